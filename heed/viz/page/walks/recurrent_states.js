// The states that the walks of recurrent translators share: a decoder's, about to write a word, and an encoder's of
// three source words, with the weights of the small network that judges them.

import { computed, dot, factor, given, numbered, plain, productTex } from "./matrices.js";

export const states = {
  s: [[1, 0.5]],
  h: [[1, 0], [0, 1], [-1, 1]],
  W_a: [[1, 0], [0, 1], [1, -1]],
  U_a: [[1, 0], [0, 1], [0, 1]],
  v_a: [[2, 1, -1]],
};

// A matrix that the reader may change, with numbered rows unless there is one.
export const stateMatrix = (name, values, rows, columns, input, more = {}) =>
  given(name, values.length === 1 ? [rows] : numbered(rows, values.length), numbered(columns, values[0].length), values,
        { input, ...more });

// W a for every row a of `states`: [rows, outputs].
export const applied = (name, weight, states, rows, columns, more = {}) => computed(
  name, states.rows.length === 1 ? [rows] : numbered(rows, states.rows.length),
  numbered(columns, weight.rows.length),
  states.values.map((state) => weight.values.map((row) => dot(row, state))),
  (r, c) => ({
    tex: productTex(weight.values[c], states.values[r]),
    marks: [{ id: weight.id, row: c }, { id: states.id, row: r }],
  }), more);

// The hidden layer of v . tanh(query + key_j), and what it is the sum of.
export function hiddenLayer(query, keys, more = {}) {
  const sum = computed("sum", numbered("h", keys.rows.length), keys.columns,
                       keys.values.map((key) => key.map((x, a) => x + query.values[0][a])),
                       (r, c) => ({
                         tex: `${plain(query.values[0][c])} + ${factor(keys.values[r][c])}`,
                         marks: [{ id: query.id, column: c }, { id: keys.id, row: r, column: c }],
                       }), more);
  const tanh = computed("tanh", sum.rows, sum.columns, sum.values.map((row) => row.map(Math.tanh)),
                        (r, c) => ({ tex: `\\tanh(${plain(sum.values[r][c])})`,
                                     marks: [{ id: "sum", row: r, column: c }] }),
                        { tex: "\\tanh" });
  return { sum, tanh };
}
