import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers } from "../arrays.js";
import { joined, labelsOf, rightToLeft, shortened, specialOf, visible, wordsOf } from "../tokens.js";
import { Trace } from "../trace.js";

const base64 = (typed) => Buffer.from(typed.buffer).toString("base64");

test("an array is the same from lists, from its bits and, to a step, packed", () => {
  const values = [0, 0.25, 1, 0.5, 0.75, 0.125];
  assert.deepEqual([...numbers([[0, 0.25, 1], [0.5, 0.75, 0.125]]).values], values);
  assert.deepEqual(numbers([[0, 0.25, 1], [0.5, 0.75, 0.125]]).shape, [2, 3]);
  assert.deepEqual([...numbers({ shape: [2, 3], f32: base64(Float32Array.from(values)) }).values], values);
  const steps = Uint16Array.from(values, (value) => Math.round((value + 1) / 3 * 65535));
  const packed = numbers({ shape: [2, 3], min: -1, max: 2, u16: base64(steps) });
  values.forEach((value, i) => assert.ok(Math.abs(packed.values[i] - value) <= 3 / 65535));
});

test("an array without as many numbers as its shape is refused", () => {
  assert.throws(() => numbers({ shape: [2, 2], f32: base64(Float32Array.from([1, 2, 3])) }), /2,2.*3 numbers/u);
});

const trace = new Trace({
  model: "m",
  source: { text: "s", tokens: ["▁a", "b", "</s>"] },
  decoder: { text: "t", tokens: ["<s>", "▁x"] },
  target: { text: "t", tokens: ["▁x", "</s>"] },
  maps: [
    { path: "e.0", layer: 0, kind: "encoder", heads: 1, queries: 3, keys: 3, weights: [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]] },
    { path: "c.0", layer: 0, kind: "cross", heads: 2, queries: 2, keys: 3, weights: [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0.5, 0.5, 0]]] },
    { path: "c.x", layer: 0, kind: "cross", heads: 1, queries: 2, keys: 3, weights: [[[0, 0, 1], [0, 1, 0]]] },
  ],
});

test("a trace knows its kinds, the last layer for -1, and what rows and columns are", () => {
  assert.deepEqual(trace.kinds, ["cross", "encoder"]);
  assert.equal(trace.map("cross", -1).path, "c.x");
  assert.equal(trace.map("cross", 7).path, "c.x");
  assert.equal(trace.map("cross", 0).path, "c.0");
  assert.equal(trace.map("cross", -1).name, "c.x");
  assert.equal(trace.side("cross", "queries"), trace.target);
  assert.equal(trace.side("cross", "keys"), trace.source);
  assert.equal(trace.side("encoder", "queries"), trace.source);
});

test("a head's weights and their mean", () => {
  const map = trace.map("cross", 0);
  assert.deepEqual([...map.head(1)], [0, 0, 1, 0.5, 0.5, 0]);
  assert.deepEqual([...map.mean()], [0.5, 0, 0.5, 0.25, 0.75, 0]);
  assert.deepEqual([...map.mean([1])], [0, 0, 1, 0.5, 0.5, 0]);
});

test("words of pieces, by the vocabulary's own marks or by the trace's numbers", () => {
  assert.deepEqual(wordsOf(["<s>", "▁tire", "d", "▁now", "</s>"]), [-1, 0, 0, 1, -1]);
  assert.deepEqual(wordsOf(["Ġtire", "d", "Ġnow"]), [0, 0, 1]);
  assert.deepEqual(wordsOf(["[CLS]", "tire", "##d", "now", "[SEP]"]), [-1, 0, 0, 1, -1]);
  assert.deepEqual(wordsOf(["one", "two"]), [0, 1]);
  assert.deepEqual(wordsOf(["one", "two"], [0, 0]), [0, 0]);
  assert.deepEqual(specialOf(["<s>", "a", "<|endoftext|>", "<b>x", "[UNK]"]), [true, false, true, false, true]);
});

test("labels are what a reader reads", () => {
  const side = (tokens) => ({ tokens, words: wordsOf(tokens), special: specialOf(tokens), grid: null });
  assert.deepEqual(labelsOf(side(["<s>", "▁tire", "d", ".", "▁"])), ["<s>", "tire", "·d", ".", "␣"]);
  assert.deepEqual(labelsOf(side(["▁这只", "动物"])), ["这只", "动物"]);
  assert.equal(joined(["tire", "·d", "."]), "tired.");
  assert.deepEqual(labelsOf({ ...side(["[CLS]", "", ""]), words: [-1, 0, 1], grid: { rows: 1, columns: 2 } }), ["[CLS]", "0,0", "0,1"]);
  assert.deepEqual(labelsOf({ ...side(["", ""]), seconds: 0.02 }), ["0.00 s", "0.02 s"]);
});

test("characters that act instead of showing are shown instead", () => {
  assert.equal(visible("a\n\u007f\u202eb\u2028\ufffe"), "a␊␡\ufffdb\ufffd\ufffd");
  assert.equal(visible("שלום 😀 ▁"), "שלום 😀 ▁");
});

test("text that runs from right to left, and text that is too long", () => {
  assert.ok(rightToLeft(["<s>", "لم", "يعبر", "الحيوان", "."]));
  assert.ok(!rightToLeft(["the", "لم", "animal", "."]));
  assert.equal(shortened("abcdef", 6), "abcdef");
  assert.equal(shortened("😀😀😀😀", 3), "😀😀…");
});
