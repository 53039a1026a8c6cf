// The state of the page in its address, so that a view can be sent: "#view=matrix&layer=2&head=5".
//
//   parse("#layer=2", { view: "heads", layer: -1 });   // { view: "heads", layer: 2 }
//   format({ view: "heads", layer: 2 }, defaults);     // "layer=2": what differs from the defaults
//
// A value has the type of its default, and a number is whole unless its key is among `fractions`; what cannot be read
// as that is left at the default.

function read(text, fallback, fits) {
  if (typeof fallback === "number") return text.trim() !== "" && fits(Number(text)) ? Number(text) : fallback;
  if (typeof fallback === "boolean") return text === "yes" ? true : text === "no" ? false : fallback;
  return text;
}

const write = (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : String(value));

export function parse(hash, defaults, fractions = []) {
  const asked = new URLSearchParams(hash.replace(/^#/u, ""));
  const state = { ...defaults };
  for (const [key, fallback] of Object.entries(defaults)) {
    if (!asked.has(key)) continue;
    state[key] = read(asked.get(key), fallback, fractions.includes(key) ? Number.isFinite : Number.isSafeInteger);
  }
  return state;
}

export function format(state, defaults) {
  const said = new URLSearchParams();
  for (const [key, fallback] of Object.entries(defaults)) {
    if (state[key] !== fallback) said.set(key, write(state[key]));
  }
  return said.toString();
}
