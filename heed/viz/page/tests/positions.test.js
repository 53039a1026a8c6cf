import assert from "node:assert/strict";
import { test } from "node:test";

import { dot } from "../attention.js";
import { angle, dimensionOrder, productsOfPositions, sinusoid, sinusoids, wavelengths } from "../positions.js";

test("the table is the paper's formula", () => {
  const table = sinusoids(6, 4);
  table.forEach((row, p) =>
    [Math.sin(p), Math.cos(p), Math.sin(p / 100), Math.cos(p / 100)].forEach((x, d) =>
      assert.ok(Math.abs(row[d] - x) < 1e-14)));
});

test("wavelengths grow from 2 pi towards 10000 times 2 pi", () => {
  const lengths = wavelengths(8);
  [1, 10, 100, 1000].forEach((factor, i) => assert.ok(Math.abs(lengths[i] / (factor * 2 * Math.PI) - 1) < 1e-12));
  assert.equal(wavelengths(5).length, 3);
  assert.equal(angle(0, 512), 1);
});

test("the product of two positions is that of their rows, and depends on the distance alone", () => {
  for (const width of [1, 5, 8, 64]) {
    const table = sinusoids(12, width), product = productsOfPositions(12, width);
    for (const [p, q] of [[0, 0], [3, 3], [2, 9], [11, 4]]) {
      assert.ok(Math.abs(product(p, q) - dot(table[p], table[q])) < 1e-9);
    }
  }
  assert.equal(productsOfPositions(12, 64)(7, 5), productsOfPositions(12, 64)(2, 0));
  assert.equal(productsOfPositions(12, 64)(3, 3), 32);
});

test("sines may stand before cosines", () => {
  assert.deepEqual(dimensionOrder(5, true), [0, 2, 4, 1, 3]);
  assert.deepEqual(dimensionOrder(3, false), [0, 1, 2]);
  assert.equal(sinusoid(0, 1, 8), 1);
});
