// Principal components: the plane in which points of many dimensions lie farthest apart.
//
//   const plane = principalPlane([...before, ...after]);   // rows of equal width
//   before.map(plane.project);                             // [[x, y], ...]
//   plane.shares;                                          // [0.41, 0.17] of the whole variance

import { dot } from "./attention.js";

const kMostTurns = 300, kStill = 1e-12;

const length = (v) => Math.sqrt(dot(v, v));

// Centred rows without their part along an axis.
const without = (rows, axis) => rows.map((row) => {
  const along = dot(row, axis);
  return row.map((x, d) => x - along * axis[d]);
});

// A direction among the rows that no pattern in them makes orthogonal to the one sought, and that is the same each
// time.
function anyDirection(rows) {
  const kGolden = (Math.sqrt(5) - 1) / 2;
  const start = rows[0].map(() => 0);
  rows.forEach((row, i) => {
    const factor = ((i + 1) * kGolden) % 1 - 0.3;
    for (let d = 0; d < start.length; ++d) start[d] += factor * row[d];
  });
  return start;
}

// The direction in which centred rows vary most, by power iteration; zeros where they do not vary.
function mainAxis(rows) {
  let axis = anyDirection(rows);
  const size = length(axis);
  if (!(size > 0)) return axis;
  axis = axis.map((x) => x / size);
  for (let turn = 0; turn < kMostTurns; ++turn) {
    const next = axis.map(() => 0);
    for (const row of rows) {
      const along = dot(row, axis);
      for (let d = 0; d < next.length; ++d) next[d] += along * row[d];
    }
    const norm = length(next);
    if (!(norm > 0)) break;
    let change = 0;
    for (let d = 0; d < next.length; ++d) {
      next[d] /= norm;
      change += (next[d] - axis[d]) ** 2;
    }
    axis = next;
    if (change < kStill) break;
  }
  // The sign is free; the largest part is made positive.
  const largest = axis.reduce((best, x) => (Math.abs(x) > Math.abs(best) ? x : best));
  return largest < 0 ? axis.map((x) => -x) : axis;
}

// Returns { mean, axes: two rows, shares: of the variance along each axis, project(row) -> [x, y] } of at least one
// row.
export function principalPlane(rows) {
  const mean = rows[0].map((_, d) => rows.reduce((sum, row) => sum + row[d], 0) / rows.length);
  const centred = rows.map((row) => row.map((x, d) => x - mean[d]));
  const variance = (list) => list.reduce((sum, row) => sum + dot(row, row), 0);
  const first = mainAxis(centred);
  // What rounding leaves of rows on one line is no second direction.
  const rest = without(centred, first), whole = variance(centred);
  const second = variance(rest) > 1e-12 * whole ? mainAxis(rest) : first.map(() => 0);
  const share = (axis) => (whole > 0 ? centred.reduce((sum, row) => sum + dot(row, axis) ** 2, 0) / whole : 0);
  return {
    mean,
    axes: [first, second],
    shares: [share(first), share(second)],
    project: (row) => [first, second].map((axis) => dot(row, axis) - dot(mean, axis)),
  };
}
