// Rows of weights to test with: the same for the same seed.

// Mulberry32 (Ettinger 2017), uniform in [0, 1).
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// [rows][columns], each row sums to one; causal: no column behind the row.
export function randomRows(rows, columns, seed, causal = false) {
  const random = randomFrom(seed);
  return [...Array(rows).keys()].map((row) => {
    const scores = [...Array(columns).keys()].map((column) => (causal && column > row ? 0 : Math.exp(4 * random())));
    const sum = sumOf(scores);
    return scores.map((score) => score / sum);
  });
}

export const sumOf = (row) => row.reduce((total, weight) => total + weight, 0);
