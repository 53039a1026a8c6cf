// Which keys a query may attend to, as heed's masks say it (heed/ops/attention/spec/mask.h): functions of a query's
// position i and a key's j.
//
//   allowedBy(strided(3), 8, 8)[5];   // whether each of 8 keys is open to the query at position 5

export const everything = () => () => true;
export const causal = () => (i, j) => j <= i;
// Keys from `left` before the query to `right` after it.
export const slidingWindow = (left, right) => (i, j) => j >= i - left && j <= i + right;
// Child et al. 2019, section 4.3: the `stride` positions around the query, and every stride-th one.
export const strided = (stride) => (i, j) => Math.abs(i - j) <= stride || Math.abs(i - j) % stride === 0;
// Beltagy et al. 2020: within radius * dilation every dilation-th key; the first `global` see and are seen by all.
export const longformer = (radius, global, dilation = 1) => (i, j) => {
  const distance = Math.abs(i - j);
  return i < global || j < global || (distance <= radius * dilation && distance % dilation === 0);
};
export const both = (a, b) => (i, j) => a(i, j) && b(i, j);

// [queries][keys] of booleans; the last query stands at the last key.
export const allowedBy = (pattern, queries, keys) =>
  Array.from({ length: queries }, (_, i) =>
    Array.from({ length: keys }, (_, j) => pattern(i + keys - queries, j)));
