import assert from "node:assert/strict";
import { test } from "node:test";

import { mathText, parseMath } from "../math.js";

// The tree as text: name(children).
const shown = ({ name, text, children }) =>
  children ? `${name}(${children.map(shown).join(" ")})` : name === "mspace" ? "space" : text;

test("scripts bind one atom, and braces make one of several", () => {
  assert.equal(shown(parseMath("q_i k_{ij}^T")), "math(msub(q i) msubsup(k mrow(i j) T))");
  assert.equal(shown(parseMath("e^-x")), "math(msup(e −) x)");
});

test("fractions, roots, sums with limits and words", () => {
  assert.equal(shown(parseMath("\\frac{Q K^T}{\\sqrt{d_k}}")), "math(mfrac(mrow(Q msup(K T)) mrow(√ mrow(msub(d k)))))");
  assert.equal(shown(parseMath("\\sum_{j} 0.5\\,\\alpha_j \\text{if it may}")),
               "math(munder(∑ j) 0.5 space msub(α j) if\u00a0it\u00a0may)");
});

test("a formula that is wrong says so", () => {
  for (const wrong of ["\\nosuch", "{a", "_a", "\\text{a", "a^", "\\frac{a}"]) {
    assert.throws(() => parseMath(wrong), /formula/);
  }
});

test("a formula is also a line of text", () => {
  assert.equal(mathText(parseMath("s = \\frac{q_1 + 2}{\\sqrt{d_k}} \\times e^{-x}")), "s = (q_1 + 2) / √(d_k) × e^(−x)");
});

test("a minus is a sign where there is nothing to take from", () => {
  const minus = ({ children }) => children.filter((child) => child.text === "−").map((child) => child.attributes?.form ?? "infix");
  assert.deepEqual(minus(parseMath("-1 - 2 = -3")), ["prefix", "infix", "prefix"]);
  assert.equal(parseMath("+ 2").children[0].attributes.form, "infix");
});
