import assert from "node:assert/strict";
import { test } from "node:test";

import { dot } from "../attention.js";
import { principalPlane } from "../pca.js";

const near = (seen, wanted, tolerance = 1e-6) =>
  assert.ok(Math.abs(seen - wanted) <= tolerance, `${seen} instead of ${wanted}`);

test("points of an ellipse lie along its axes, wherever it stands", () => {
  const turn = 0.7, rows = [];
  for (let i = 0; i < 40; ++i) {
    const a = 5 * Math.cos(i), b = 2 * Math.sin(i);
    rows.push([10 + a * Math.cos(turn) - b * Math.sin(turn), a * Math.sin(turn) + b * Math.cos(turn) - 3, 4]);
  }
  const { axes, shares, project } = principalPlane(rows);
  near(Math.abs(axes[0][0]), Math.cos(turn), 0.02);
  near(Math.abs(axes[0][1]), Math.sin(turn), 0.02);
  near(shares[0] + shares[1], 1);
  assert.ok(shares[0] > 0.8);
  near(dot(axes[0], axes[1]), 0);
  near(rows.map(project).reduce((sum, [x]) => sum + x, 0), 0);
});

test("the longest point does not choose the axis", () => {
  const rows = [[3, 0], [-3, 0]];
  for (let i = 0; i < 10; ++i) rows.push([0, 2], [0, -2]);
  const { axes } = principalPlane(rows);
  near(Math.abs(axes[0][1]), 1);
  near(Math.abs(axes[1][0]), 1);
});

test("distances within a plane are kept", () => {
  const rows = [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 3, 3], [2, 2, 1, 1]];
  const points = rows.map(principalPlane(rows).project);
  const between = (a, b) => Math.hypot(...a.map((x, d) => x - b[d]));
  rows.forEach((a, i) => rows.forEach((b, j) => near(between(points[i], points[j]), between(a, b))));
});

test("the same rows give the same plane, and rows that do not vary a point", () => {
  const rows = [[1, 2, 3], [4, 0, 1], [2, 2, 2]];
  assert.deepEqual(principalPlane(rows).axes, principalPlane(rows).axes);
  assert.deepEqual([[7, 7]].map(principalPlane([[7, 7]]).project), [[0, 0]]);
  const line = principalPlane([[1, 1], [2, 2], [3, 3]]);
  assert.deepEqual(line.axes[1], [0, 0]);
  near(line.shares[0], 1);
});
