import assert from "node:assert/strict";
import { test } from "node:test";

import { keyHead, logSumExp, onlineSoftmax, product, queryRow, softmax, sum } from "../attention.js";

const close = (seen, wanted, tolerance = 1e-12) => {
  assert.equal(seen.length, wanted.length);
  seen.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) <= tolerance, `${x} instead of ${wanted[i]} at ${i}`));
};

test("rows of softmax sum to one, also where exponentials overflow, and a row without keys is zero", () => {
  close([sum(softmax([1000, 999, -1000]))], [1]);
  close(softmax([3, -Infinity, 3]), [0.5, 0, 0.5]);
  assert.deepEqual(softmax([-Infinity, -Infinity]), [0, 0]);
  assert.equal(logSumExp([-Infinity]), -Infinity);
  close([logSumExp([1000, 1000])], [1000 + Math.log(2)]);
});

test("neighbouring heads of queries share a head of keys", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5].map((h) => keyHead(h, 6, 2)), [0, 0, 0, 1, 1, 1]);
  assert.deepEqual([0, 1, 2].map((h) => keyHead(h, 3, 3)), [0, 1, 2]);
  assert.deepEqual([0, 1, 2].map((h) => keyHead(h, 3, 1)), [0, 0, 0]);
});

test("a tile after another gives softmax's output, whatever the tile, the order and the mask", () => {
  const scores = [0.3, 5, -2, -Infinity, 9, 1], values = [[1, 0], [0, 1], [2, 2], [9, 9], [-1, 3], [4, 4]];
  const expected = product([softmax(scores)], values)[0];
  for (const tile of [1, 2, 3, 4, 6, 7]) {
    const { tiles, output, logSumExp: stat } = onlineSoftmax(scores, values, tile);
    close(output, expected);
    close([stat], [logSumExp(scores)]);
    assert.equal(tiles.length, Math.ceil(scores.length / tile));
    assert.equal(tiles.at(-1).most, 9);
  }
});

test("a tile without keys leaves what was there, and a row without keys is zero", () => {
  const { tiles } = onlineSoftmax([2, -Infinity], [[3], [4]], 1);
  assert.equal(tiles[1].correction, 1);
  assert.deepEqual(tiles[1].output, tiles[0].output);
  const nothing = onlineSoftmax([-Infinity, -Infinity], [[3], [4]], 1);
  assert.deepEqual(nothing.output, [0]);
  assert.equal(nothing.logSumExp, -Infinity);
});

const q = [1, -0.5, 2], keys = [[1, 0, 0.5], [0, 2, 1], [-1, 1, 0.25], [2, 2, 2]], scale = 0.5;
const scaled = keys.map((key) => scale * (q[0] * key[0] + q[1] * key[1] + q[2] * key[2]));

test("a row without mask and bias is explained by its scores", () => {
  const row = queryRow({ q, keys, scale, weights: softmax(scaled) });
  assert.equal(row.biased, false);
  assert.deepEqual(row.added, [0, 0, 0, 0]);
  close(row.weights, softmax(scaled));
});

test("a masked key is found out", () => {
  const weights = softmax([...scaled.slice(0, 3), -Infinity]);
  const row = queryRow({ q, keys, scale, weights });
  assert.deepEqual(row.added, [0, 0, 0, -Infinity]);
  close(row.weights, weights);
});

test("a key that is known to be masked is, even where its score would hardly show", () => {
  const far = [...keys, [-20, 0, 0]], weights = [...softmax(scaled), 0];
  assert.equal(queryRow({ q, keys: far, scale, weights }).added[4], 0);
  assert.equal(queryRow({ q, keys: far, scale, weights, refused: [false, false, false, false, true] }).added[4],
               -Infinity);
});

test("a bias is found up to a constant, which softmax forgets", () => {
  const bias = [0, -1, -2, 3], weights = softmax(scaled.map((score, j) => score + bias[j]));
  const row = queryRow({ q, keys, scale, weights });
  assert.equal(row.biased, true);
  close(row.added.slice(1).map((x, j) => x - row.added[j]), [-1, -1, 5], 1e-9);
  close([sum(row.added.map((x, j) => x * weights[j]))], [0], 1e-9);
  close(row.weights, weights);
});

test("a bias that is known is taken as it is", () => {
  const bias = [0.5, -1, -Infinity, 0], weights = softmax(scaled.map((score, j) => score + bias[j]));
  const row = queryRow({ q, keys, scale, weights, bias });
  assert.deepEqual(row.added, bias);
  assert.equal(row.biased, true);
  close(row.weights, weights);
});

test("what a bias adds to a key without weight stays open", () => {
  const row = queryRow({ q, keys, scale, weights: [0.7, 0.3, 0, 0], refused: [false, false, true, false], tolerance: 0.02 });
  assert.equal(row.added[2], -Infinity);
  assert.ok(row.biased);
  close(row.weights, [0.7, 0.3, 0, 0]);
});
