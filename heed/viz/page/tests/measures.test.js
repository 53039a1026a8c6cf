import assert from "node:assert/strict";
import { test } from "node:test";
import { alignmentOf, betweenWords, errorRate, whereShown } from "../alignment.js";
import { combine } from "../combine.js";
import { entropyOf, measure } from "../measures.js";
import { Trace } from "../trace.js";

// A head in which each row puts `share` of its weight on one column, the rest evenly on the columns it may read.
function head(rows, columns, share, target, causal = false) {
  const weights = new Float32Array(rows * columns);
  for (let row = 0; row < rows; ++row) {
    const may = causal ? row + 1 : columns;
    for (let column = 0; column < may; ++column) weights[row * columns + column] = (1 - share) / may;
    const to = target(row);
    if (to >= 0 && to < may) weights[row * columns + to] += share;
  }
  return weights;
}
const labels = ["the", "cat", ",", "it", "sat", "."];
const special = labels.map(() => false);
const role = (weights, self = true, more = {}) => measure({ weights, rows: 6, columns: 6, labels, special, self, ...more }).role;

test("a head is named for where most of its weight goes", () => {
  assert.equal(role(head(6, 6, 0.8, (row) => row - 1)), "previous");
  assert.equal(role(head(6, 6, 0.8, (row) => row - 1, true)), "previous");
  assert.equal(role(head(6, 6, 0.8, (row) => row + 1)), "next");
  assert.equal(role(head(6, 6, 0.8, (row) => row)), "itself");
  assert.equal(role(head(6, 6, 0.8, () => 0)), "first");
  assert.equal(role(head(6, 6, 0.8, () => 2)), "punctuation");
  assert.equal(role(head(6, 6, 0.8, () => 5), true, { labels: ["a", "b", "c", "d", "e", "[SEP]"], special: [false, false, false, false, false, true] }), "special");
  assert.equal(role(head(6, 6, 0.8, (row) => row), false), "diagonal");
});

test("below half of the weight it is named for nothing, and equal weights are even", () => {
  assert.equal(role(head(6, 6, 0.35, (row) => (row * 2 + 1) % 6)), null);
  assert.equal(role(head(6, 6, 0, () => 0)), "even");
});

test("a row that could read one token alone says nothing of a head", () => {
  const measured = measure({ weights: head(6, 6, 0.6, (row) => row - 1, true), rows: 6, columns: 6, labels, special, self: true });
  // Rows 1 to 5: the share, and its part of the rest.
  const expected = [1, 2, 3, 4, 5].reduce((sum, row) => sum + 0.6 + 0.4 / (row + 1), 0) / 5;
  assert.ok(Math.abs(measured.shares.previous - expected) < 1e-6);
});

test("entropy is in bits and needs no sum of one; distance is in tokens", () => {
  assert.equal(entropyOf([0.25, 0.25, 0.25, 0.25]), 2);
  assert.equal(entropyOf([2, 2]), 1);
  assert.equal(entropyOf([1, 0, 0]), 0);
  assert.equal(entropyOf([0, 0]), 0);
  const far = measure({ weights: Float32Array.from([0, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0]), rows: 3, columns: 3, labels: ["a", "b", "c"], special: [false, false, false], self: true });
  assert.ok(Math.abs(far.distance - (1.5 + 1 + 1.5) / 3) < 1e-9);
});

test("alignment is each row's largest weight, from the threshold up", () => {
  const weights = [0.6, 0.4, 0, 0.1, 0.2, 0.7, 0.3, 0.4, 0.3];
  assert.deepEqual(alignmentOf(weights, 3, 3, 0), [[0, 0], [2, 1], [1, 2]]);
  assert.deepEqual(alignmentOf(weights, 3, 3, 0.5), [[0, 0], [2, 1]]);
});

test("the error rate counts sure links found, and found links that are possible", () => {
  const gold = [[0, 0, true], [1, 1, true], [2, 2, false]];
  assert.equal(errorRate([[0, 0], [1, 1]], gold).aer, 0);
  assert.equal(errorRate([[0, 0], [1, 1], [2, 2]], gold).aer, 0);
  // A = {0-0, 2-1}: |A and S| = 1, |A and P| = 1, |A| + |S| = 4.
  assert.equal(errorRate([[0, 0], [2, 1]], gold).aer, 0.5);
  assert.equal(errorRate([], []).aer, 0);
});

test("a word that no token was found for keeps its number: perfect weights have no error", () => {
  const side = { tokens: ["a", "c"], words: [0, 2], word_texts: ["a", "b", "c"] };
  const gold = [[0, 0, true], [2, 2, true]];
  const trace = new Trace({ source: side, target: side, gold, maps: [{ path: "c", kind: "cross", heads: 1, queries: 2, keys: 2, weights: [[[1, 0], [0, 1]]] }] });
  const shown = combine(trace, "cross", -1, { words: true, special: false });
  const links = alignmentOf(shown.weights("mean"), 2, 2, 0);
  assert.deepEqual(betweenWords(links, shown), [[0, 0], [2, 2]]);
  assert.equal(errorRate(betweenWords(links, shown), gold).aer, 0);
  assert.deepEqual(whereShown([...gold, [1, 2, true]], shown), [[0, 0, true], [1, 1, true]]);
});
