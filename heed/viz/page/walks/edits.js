// What a reader has changed of a walk, as text for the page's address: "Q:1,0,1;0,1,1|causal:1".
//
//   const given = readEdits(walk, text);        // { inputs: { Q: [[...]], ... }, controls: { causal: true } }
//   writeEdits(walk, given);                    // only what differs from the walk's own numbers

const sameShape = (a, b) => a.length === b.length && a.every((row, r) => row.length === b[r].length);

function matrixOf(text, fallback) {
  const values = text.split(";").map((row) => row.split(",").map((x) => (x.trim() === "" ? NaN : Number(x))));
  return sameShape(values, fallback) && values.flat().every(Number.isFinite) ? values : fallback;
}

function controlOf(control, text) {
  if (typeof control.initial === "boolean") return text === "1";
  const value = Number(text);
  return Number.isInteger(value) && value >= control.least && value <= control.most ? value : control.initial;
}

// What cannot be read as the walk's numbers is left as the walk has it.
export function readEdits(walk, text) {
  const inputs = structuredClone(walk.inputs);
  const controls = Object.fromEntries(walk.controls.map((control) => [control.key, control.initial]));
  for (const part of text.split("|")) {
    const colon = part.indexOf(":");
    const key = part.slice(0, colon), value = part.slice(colon + 1);
    if (colon > 0 && Object.hasOwn(inputs, key)) inputs[key] = matrixOf(value, walk.inputs[key]);
    const control = walk.controls.find((one) => one.key === key);
    if (colon > 0 && control) controls[key] = controlOf(control, value);
  }
  return { inputs, controls };
}

export function writeEdits(walk, { inputs, controls }) {
  const parts = [];
  for (const [key, values] of Object.entries(walk.inputs)) {
    const same = inputs[key].every((row, r) => row.every((x, c) => x === values[r][c]));
    if (!same) parts.push(`${key}:${inputs[key].map((row) => row.join(",")).join(";")}`);
  }
  for (const { key, initial } of walk.controls) {
    if (controls[key] !== initial) parts.push(`${key}:${Number(controls[key])}`);
  }
  return parts.join("|");
}
