// In which order the rows and columns of a matrix stand, and which of them: the numbers of those that are shown.
//
//   rowOrder({ weights, rows: 5, columns: 7, labels, by: "entropy", only: "the" });   // [4, 0, 2]

import { entropyOf } from "../measures.js";

export const rowOrders = ["place", "largest", "entropy", "name"];
export const columnOrders = ["place", "read", "largest", "name"];

function ordered(labels, only, by, score) {
  const wanted = only.trim().toLocaleLowerCase();
  const kept = [...labels.keys()].filter((i) => wanted === "" || labels[i].toLocaleLowerCase().includes(wanted));
  if (by === "name") return kept.sort((a, b) => labels[a].localeCompare(labels[b]) || a - b);
  if (!score) return kept;
  const scores = new Map(kept.map((i) => [i, score(i)]));
  return kept.sort((a, b) => scores.get(b) - scores.get(a) || a - b);
}

// By place; by a row's largest weight; by its entropy, the most decided row first; by name.
export function rowOrder({ weights, columns, labels, by, only }) {
  const row = (i) => weights.subarray(i * columns, (i + 1) * columns);
  const scores = { __proto__: null, largest: (i) => row(i).reduce((a, b) => Math.max(a, b), 0), entropy: (i) => -entropyOf(row(i)) };
  return ordered(labels, only, by, scores[by]);
}

// By place; by the sum of what rows read of a column; by its largest weight; by name.
export function columnOrder({ weights, rows, columns, labels, by, only }) {
  const over = (start, step) => (i) => {
    let value = start;
    for (let row = 0; row < rows; ++row) value = step(value, weights[row * columns + i]);
    return value;
  };
  return ordered(labels, only, by, { __proto__: null, read: over(0, (a, b) => a + b), largest: over(0, Math.max) }[by]);
}
