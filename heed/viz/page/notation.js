// A sentence with the notation that a terminal can print, as a page writes it: "h_1" with a small 1 below, "sqrt(d_k)"
// with a root, "e^-inf" with a raised −∞.
//
//   paragraph.append(...notation("A dot product of d_k numbers spreads like sqrt(d_k)."));
import { element } from "./dom.js";

const kNotation = /sqrt\((\w+)\)|\b([A-Za-z])\^(-?\w+|\([^()]*\))|\b([A-Za-zαβ])_([A-Za-z0-9]+)\b|-inf\b/gu;

const signs = (text) => text.replaceAll("-inf", "−∞").replaceAll(" - ", " − ").replace(/^-/u, "−");

export function notation(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(kNotation)) {
    parts.push(text.slice(end, match.index));
    const [whole, under, base, power, letter, below] = match;
    if (under) parts.push("√", ...notation(under));
    else if (power) parts.push(element("i", {}, base), element("sup", {}, signs(power.replace(/^\((.*)\)$/u, "$1"))));
    else if (letter) parts.push(element("i", {}, letter), element("sub", {}, below));
    else parts.push(signs(whole));
    end = match.index + whole.length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}
