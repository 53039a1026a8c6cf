// The states that the walks of recurrent translators share: a decoder's, about to write a word, and an encoder's of
// three source words, with the weights of the small network that judges them.

import { dot } from "../attention.js";
import { computed, eachOf, factor, given, numbered, plain, productTex } from "./matrices.js";

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
export function hiddenLayer(query, keys) {
  const sum = computed("sum", numbered("h", keys.rows.length), keys.columns,
                       keys.values.map((key) => key.map((x, a) => x + query.values[0][a])),
                       (r, c) => ({
                         tex: `${plain(query.values[0][c])} + ${factor(keys.values[r][c])}`,
                         marks: [{ id: query.id, column: c }, { id: keys.id, row: r, column: c }],
                       }));
  return { sum, tanh: eachOf("tanh", sum, Math.tanh, (x) => `\\tanh(${plain(x)})`, { tex: "\\tanh" }) };
}

// v . hidden_j of every row of the hidden layer, as one row.
export const judged = (name, row, v, hidden) => computed(
  name, [row], hidden.rows, [hidden.values.map((values) => dot(values, v.values[0]))],
  (_, c) => ({ tex: productTex(v.values[0], hidden.values[c]), marks: [{ id: v.id }, { id: hidden.id, row: c }] }));
