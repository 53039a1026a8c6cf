// The colours of the page, its pictures and what is exported.

// Of surfaces and text. Contrast of ink and quiet with paper and panel is at least 4.5 : 1, and of accent too.
// Queries, keys and values have the same three colours everywhere; `below` is of negative numbers.
export const themes = {
  light: {
    paper: "#fbfbfa", panel: "#ffffff", ink: "#1d2026", quiet: "#5b626e", faint: "#e4e6ea", edge: "#d6d9df",
    hover: "#f1f3f6", accent: "#2457c5", "on-accent": "#ffffff", wash: "#e9effc", mark: "#c2410c",
    query: "#0072b2", key: "#c75800", value: "#008060", below: "#8a4fbf",
  },
  dark: {
    paper: "#14161a", panel: "#1b1e24", ink: "#eceef2", quiet: "#a2a9b5", faint: "#2a2e36", edge: "#3a3f49",
    hover: "#242830", accent: "#8ab0ff", "on-accent": "#10151f", wash: "#22304d", mark: "#fdba74",
    query: "#4ba3e3", key: "#ff8a47", value: "#2fd0a0", below: "#c3a2f5",
  },
};

// Of heads: eight that people with any colour vision tell apart (after Okabe and Ito 2008, "Color universal design"),
// with yellow and black replaced by what shows on the theme's paper. Further heads take them again, dashed.
const headColours = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc5fa0", "#b8860b", "#3b9fd8", "#7a4fbf", "#5f6672"],
  dark: ["#4ba3e3", "#ff8a47", "#2fd0a0", "#f09ad0", "#f0c040", "#9bd8ff", "#b79cf5", "#b4bac4"],
};
const kDashes = ["", "6 3", "2 3", "8 3 2 3"];

export const headColour = (head, dark) => headColours[dark ? "dark" : "light"][head % 8];
export const headDash = (head) => kDashes[Math.floor(head / 8) % kDashes.length];

// The parts [red, green, blue] of "#rrggbb", and the name of three parts.
export const partsOf = (name) => [1, 3, 5].map((at) => parseInt(name.slice(at, at + 2), 16));
export const nameOf = (parts) => `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;

// Parts between two colours' parts: t of the way from a to b.
export const mixed = (a, b, t) => a.map((part, i) => Math.round(part + (b[i] - part) * t));

// The scale of weights, sequential and perceptually even: heed/viz/colour.h computes it, and the page's data brings it
// as 256 colours "rrggbb", from paper to deep. On dark paper it runs the other way.
export class Scale {
  constructor(hex) {
    this.names = hex.match(/.{6}/gu).map((name) => `#${name}`);
  }

  index(t, dark) {
    const step = Math.round(Math.min(Math.max(t, 0), 1) * 255);
    return dark ? 255 - step : step;
  }

  // "#rrggbb" of t from 0 to 1.
  colour(t, dark) {
    return this.names[this.index(t, dark)];
  }

  // The 256 colours as numbers that a canvas's Uint32Array takes, from the colour of 0.
  pixels(dark) {
    const bytes = new Uint8Array(1024);
    for (let i = 0; i < 256; ++i) {
      bytes.set([...partsOf(this.names[dark ? 255 - i : i]), 255], 4 * i);
    }
    return new Uint32Array(bytes.buffer);
  }
}

// The end of a scale: the smallest round number that holds the largest value.
export function roundEnd(values) {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const factor = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8].find((one) => one * power >= most * (1 - 1e-4));
  return factor === undefined ? 10 * power : factor * power;
}
