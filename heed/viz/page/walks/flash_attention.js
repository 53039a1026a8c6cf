// Softmax tile after tile with a running maximum and sum (Dao et al. 2022, algorithm 1), as
// `heed explain --example flash-attention`, which has tiles of two keys; here they may have any number.

import { logSumExp, onlineSoftmax } from "../attention.js";
import { computed, factor, given, numbered, plain, productOf, productTex, products, rowsOf, scaledBy, softmaxOf, transposed }
  from "./matrices.js";

const kStatistics = ["m_old", "m", "factor", "l"];
const add = (terms) => terms.filter((term) => term !== "").join(" + ");

// The matrices of one tile; `rows` is what onlineSoftmax kept of each query, `before` the output so far.
function tileStep(number, { rows, scaled, v, before }) {
  const tiles = rows.map((row) => row.tiles[number]);
  const { begin, end } = tiles[0], queries = scaled.rows, keys = scaled.columns.slice(begin, end);
  const scores = computed("S", queries, keys, tiles.map((tile) => tile.scores), (r, c) => ({
    tex: plain(tiles[r].scores[c]), marks: [],
  }));
  const exponentials = computed("P", queries, keys, tiles.map((tile) => tile.exponentials), (r, c) => ({
    tex: `e^{${plain(tiles[r].scores[c])} - ${factor(tiles[r].most)}}`,
    marks: [{ id: "S", row: r, column: c }, { id: "statistics", row: r, column: 1 }],
  }));
  const old = (r) => (number === 0 ? -Infinity : rows[r].tiles[number - 1].most);
  const sumOld = (r) => (number === 0 ? 0 : rows[r].tiles[number - 1].sum);
  const statistics = computed(
    "statistics", queries, kStatistics, tiles.map((tile, r) => [old(r), tile.most, tile.correction, tile.sum]), (r, c) => ({
      tex: [
        plain(old(r)),
        `\\max(${[old(r), ...tiles[r].scores].map(plain).join(", ")})`,
        `e^{${plain(old(r))} - ${factor(tiles[r].most)}}`,
        `${plain(tiles[r].correction)} \\times ${plain(sumOld(r))} + ${add(tiles[r].exponentials.map(plain))}`,
      ][c],
      marks: [[], [{ id: "S", row: r }], [{ id: "statistics", row: r, column: 0 }, { id: "statistics", row: r, column: 1 }],
              [{ id: "P", row: r }, { id: "statistics", row: r, column: 2 }]][c],
    }), { shade: "none" });
  const values = { ...rowsOf(v, begin, end), id: "V tile", tex: "V_{\\text{tile}}" };
  const output = computed("O", queries, v.columns, tiles.map((tile) => tile.output), (r, c) => ({
    tex: `${plain(tiles[r].correction)} \\times ${factor(before.values[r][c])} + ` +
         productTex(tiles[r].exponentials, values.values.map((row) => row[c])),
    marks: [{ id: before.id, row: r, column: c }, { id: "P", row: r }, { id: "V tile", column: c },
            { id: "statistics", row: r, column: 2 }],
  }), { role: "value" });
  return {
    name: `tile-${number + 1}`, point: "O",
    formula: "m = \\max(m_{\\text{old}}, \\max_j S_{ij}), \\quad f = e^{m_{\\text{old}} - m}, \\quad P_{ij} = e^{S_{ij} - m}, " +
             "\\quad l = f l_{\\text{old}} + \\sum_j P_{ij}, \\quad O = f O_{\\text{old}} + P V",
    shown: [[scores, "\\to", statistics], [scores, "\\to", exponentials], [before, ",", exponentials, "\\times", values, "\\to", output]],
    matrices: [scores, exponentials, statistics, output],
    output,
  };
}

const column = (name, queries, values, from) =>
  computed(name, queries, [name], values.map((x) => [x]), from, { shade: "none", tex: "\\text{log-sum-exp}" });

export const walk = {
  id: "flash-attention",
  inputs: {
    Q: [[2, 0, 2, 0], [0, 2, 0, 2]],
    K: [[1, 2, 0, 2], [2, 1, 1, 1], [1, 1, 1, 0], [3, 0, 2, 0], [0, 2, 0, 1], [2, 1, 2, 1]],
    V: [[1, 0], [0, 1], [2, 1], [1, 2], [0, 3], [3, 0]],
  },
  controls: [{ key: "keys", initial: 2, least: 1, most: 6 }],
  steps({ Q, K, V }, { keys: tile }) {
    const q = given("Q", numbered("q", Q.length), numbered("d", Q[0].length), Q, { input: "Q", role: "query" });
    const k = given("K", numbered("k", K.length), numbered("d", K[0].length), K, { input: "K", role: "key" });
    const v = given("V", numbered("k", V.length), numbered("d", V[0].length), V, { input: "V", role: "value" });
    const scaled = scaledBy("scaled", products("scores", q, k), 1 / Math.sqrt(Q[0].length),
                            (x) => `\\frac{${plain(x)}}{\\sqrt{${Q[0].length}}}`);
    const scaledHere = { ...scaled, from: (r, c) => ({
      tex: `\\frac{${productTex(Q[r], K[c])}}{\\sqrt{${Q[0].length}}}`, marks: [{ id: "Q", row: r }, { id: "K", row: c }],
    }) };
    const rows = scaled.values.map((row) => onlineSoftmax(row, V, tile));
    const tiles = [];
    let before = computed("O", q.rows, v.columns, Q.map(() => V[0].map(() => 0)), null, { id: "O before", tex: "O_{\\text{old}}" });
    for (let number = 0; number < rows[0].tiles.length; ++number) {
      const step = tileStep(number, { rows, scaled, v, before });
      // The words of the three tiles of two speak of those alone.
      if (tile !== 2) step.words = "tile";
      tiles.push(step);
      before = { ...step.output, id: "O before", tex: "O_{\\text{old}}", from: null };
    }
    const statistics = tiles.at(-1).matrices[2], o = { ...before, tex: "O", id: "O" };
    const output = computed("output", q.rows, v.columns, rows.map((row) => row.output), (r, c) => ({
      tex: `\\frac{${plain(o.values[r][c])}}{${plain(statistics.values[r][3])}}`,
      marks: [{ id: "O", row: r, column: c }, { id: "statistics", row: r, column: 3 }],
    }), { role: "value" });
    const stat = column("log_sum_exp", q.rows, rows.map((row) => row.logSumExp), (r) => ({
      tex: `${plain(statistics.values[r][1])} + \\ln(${plain(statistics.values[r][3])})`,
      marks: [{ id: "statistics", row: r, column: 1 }, { id: "statistics", row: r, column: 3 }],
    }));
    const weights = softmaxOf("weights", scaledHere, { shade: "weights" });
    const whole = productOf("output", weights, v, { role: "value" });
    const wholeStat = column("log_sum_exp", q.rows, scaled.values.map(logSumExp), (r) => ({
      tex: `\\ln(${scaled.values[r].map((x) => `e^{${plain(x)}}`).join(" + ")})`, marks: [{ id: "scaled", row: r }],
    }));
    return [
      { name: "inputs", formula: `\\text{scaled} = \\frac{Q K^T}{\\sqrt{${Q[0].length}}}`,
        shown: [[q], [k, v]], matrices: [q, k, v] },
      ...tiles,
      { name: "output", formula: "\\text{output} = \\frac{O}{l}, \\quad \\text{log-sum-exp} = m + \\ln l",
        shown: [[o, ",", statistics, "\\to", output, ",", stat]], matrices: [output, stat] },
      { name: "whole", formula: "\\text{weights} = \\softmax(\\text{scaled}), \\quad \\text{output} = \\text{weights}\\, V",
        shown: [[q, "\\times", transposed(k), `/ \\sqrt{${Q[0].length}} =`, scaledHere], [scaledHere, "\\to", weights], [weights, "\\times", v, "=", whole, ",", wholeStat]],
        matrices: [scaledHere, weights, whole, wholeStat] },
    ];
  },
};
