// Attention's arithmetic on plain arrays: a row is an array of numbers, a matrix an array of rows.
//
//   const scores = productTransposed([[1, 0, 1]], [[1, 1, 0], [0, 1, 1]]);   // [[1, 1]]
//   product(scores.map(softmax), v);                                         // the values, by their weights
//   onlineSoftmax(scores[0], v, 1).output;                                   // the same, a tile of keys after another
//
// A score of -Infinity is a key that the mask refuses. A row without any key has weights and an output of 0, as heed's
// operator has it.

export const dot = (a, b) => a.reduce((sum, x, d) => sum + x * b[d], 0);
export const transpose = (matrix) => matrix[0].map((_, column) => matrix.map((row) => row[column]));

// a [R, C] times b [C, N].
export function product(a, b) {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
}

// q [Lq, d] k^T: every query against every key.
export const productTransposed = (q, k) => q.map((query) => k.map((key) => dot(query, key)));

export const sum = (row) => row.reduce((total, x) => total + x, 0);

// The largest score is taken off first, so that no exponential overflows.
export function softmax(row) {
  const most = Math.max(...row);
  if (most === -Infinity) return row.map(() => 0);
  const exponentials = row.map((score) => Math.exp(score - most));
  const total = sum(exponentials);
  return exponentials.map((e) => e / total);
}

// ln of the sum of e^score; -Infinity for a row without keys.
export function logSumExp(row) {
  const most = Math.max(...row);
  return most === -Infinity ? -Infinity : most + Math.log(sum(row.map((score) => Math.exp(score - most))));
}

// The head of keys and values that a head of queries reads: neighbours share one (Ainslie et al. 2023).
export const keyHead = (head, queryHeads, keyHeads) => Math.floor(head / (queryHeads / keyHeads));

// FlashAttention's way through a row (Dao et al. 2022, algorithm 1; the output stays undivided until the end, as in
// Dao 2023): `tile` keys at a time, of which only the running maximum, the sum of exponentials beside it and the output
// are kept. Returns { tiles: [{ begin, end, scores, tileMost, most, correction, exponentials, sum, output }], output,
// logSumExp }; sum and output are as they stand after the tile.
export function onlineSoftmax(scores, values, tile) {
  let most = -Infinity, total = 0, output = values[0].map(() => 0);
  const tiles = [];
  for (let begin = 0; begin < scores.length; begin += tile) {
    const end = Math.min(begin + tile, scores.length), inTile = scores.slice(begin, end);
    const tileMost = Math.max(...inTile), before = most;
    most = Math.max(most, tileMost);
    // What was summed beside the old maximum is brought beside the new one; before the first key there is nothing.
    const correction = before === -Infinity ? 0 : Math.exp(before - most);
    const exponentials = inTile.map((score) => (score === -Infinity ? 0 : Math.exp(score - most)));
    total = total * correction + sum(exponentials);
    output = output.map((x, d) => x * correction + sum(exponentials.map((e, j) => e * values[begin + j][d])));
    tiles.push({ begin, end, scores: inTile, tileMost, most, correction, exponentials, sum: total, output });
  }
  return {
    tiles,
    output: output.map((x) => (total > 0 ? x / total : 0)),
    logSumExp: total > 0 ? most + Math.log(total) : -Infinity,
  };
}

// One row of a traced map taken apart: from q [d], keys [L, d], the scale and the weights [L] that the model used,
// what each key's score is and what a mask and a bias must have added to it. `refused` (of booleans, may be left out)
// are keys that are known to be masked; so is one of weight 0 whose score alone would give it a visible one. `bias` [L]
// is what is known to have been added. Where it is not given, and scores alone do not explain the weights, it is known
// up to a constant of the row, since softmax forgets it: it is chosen so that the keys are moved by 0 on average, each
// counted by its weight; it is NaN where a weight of 0 leaves it open. `biased` says whether mask and scores alone miss
// a weight by `tolerance`.
export function queryRow({ q, keys, scale, weights, bias = null, refused = [], tolerance = 0.02 }) {
  const products = keys.map((key) => dot(q, key));
  const scaled = products.map((score) => score * scale);
  const plain = softmax(bias ? scaled.map((score, j) => score + bias[j]) : scaled);
  const masked = weights.map((weight, j) => weight === 0 && (refused[j] === true || plain[j] > tolerance));
  const open = softmax(scaled.map((score, j) => (masked[j] ? -Infinity : score)));
  const biased = bias ? bias.some((x, j) => x !== 0 && !masked[j]) : weights.some((weight, j) => Math.abs(weight - open[j]) > tolerance);
  const moved = weights.map((weight, j) => (weight > 0 ? Math.log(weight) - scaled[j] : -Infinity));
  const known = weights.map((weight, j) => (weight > 0 ? weight * moved[j] : 0));
  const centre = sum(known) / (sum(weights) || 1);
  const added = weights.map((weight, j) => {
    if (masked[j]) return -Infinity;
    if (!biased) return 0;
    if (bias) return bias[j];
    return weight > 0 ? moved[j] - centre : NaN;
  });
  const adjusted = scaled.map((score, j) => (Number.isNaN(added[j]) ? -Infinity : score + added[j]));
  return { products, scaled, added, adjusted, weights: softmax(adjusted), masked, biased };
}
