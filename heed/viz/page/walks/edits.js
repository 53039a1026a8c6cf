// What a reader has changed of a walk, as text for the page's address: "Q:1,0,1;0,1,1|causal:1".
//
//   const given = readEdits(walk, text);        // { inputs: { Q: [[...]], ... }, controls: { causal: true } }
//   writeEdits(walk, given);                    // only what differs from the walk's own numbers

const kMostRows = 32, kMostColumns = 64;

const sameShape = (a, b) => a.length === b.length && a.every((row, r) => row.length === b[r].length);
const small = (a) => a.length <= kMostRows && a[0].length <= kMostColumns && a.every((row) => row.length === a[0].length);

function matrixOf(text, fits) {
  const values = text.split(";").map((row) => row.split(",").map((x) => (x.trim() === "" ? NaN : Number(x))));
  return fits(values) && values.flat().every(Number.isFinite) ? values : null;
}

function controlOf(control, text) {
  if (typeof control.initial === "boolean") return text === "1";
  const value = Number(text);
  return Number.isInteger(value) && value >= control.least && value <= control.most ? value : control.initial;
}

// What cannot be read as the walk's numbers is left as the walk has it. A walk that says which shapes fit each other,
// fits(inputs), takes matrices of any, up to 32 rows of 64 numbers; others only those of their own.
export function readEdits(walk, text) {
  const inputs = structuredClone(walk.inputs);
  const controls = Object.fromEntries(walk.controls.map((control) => [control.key, control.initial]));
  for (const part of text.split("|")) {
    const colon = part.indexOf(":");
    const key = part.slice(0, colon), value = part.slice(colon + 1);
    if (colon > 0 && Object.hasOwn(inputs, key)) {
      inputs[key] = matrixOf(value, walk.fits ? small : (values) => sameShape(values, walk.inputs[key])) ?? inputs[key];
    }
    const control = walk.controls.find((one) => one.key === key);
    if (colon > 0 && control) controls[key] = controlOf(control, value);
  }
  return { inputs: walk.fits && !walk.fits(inputs) ? structuredClone(walk.inputs) : inputs, controls };
}

export function writeEdits(walk, { inputs, controls }) {
  const parts = [];
  for (const [key, values] of Object.entries(walk.inputs)) {
    const same = sameShape(inputs[key], values) && inputs[key].every((row, r) => row.every((x, c) => x === values[r][c]));
    if (!same) parts.push(`${key}:${inputs[key].map((row) => row.join(",")).join(";")}`);
  }
  for (const { key, initial } of walk.controls) {
    if (controls[key] !== initial) parts.push(`${key}:${Number(controls[key])}`);
  }
  return parts.join("|");
}
