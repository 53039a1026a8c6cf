// Four heads of queries that share two of keys and values (Ainslie et al. 2023), as `heed explain --example gqa`.

import { keyHead } from "../attention.js";
import { columnsOf, computed, given, numbered, plain, productOf, products, scaledBy, sideBySide, softmaxOf, transposed }
  from "./matrices.js";

const kWords = ["we", "share", "keys"];
const kHeads = 4, kKeyHeads = 2, kWidth = 4;
const range = (count) => Array.from({ length: count }, (_, i) => i);
const group = (head) => keyHead(head, kHeads, kKeyHeads);
const ofHead = (name, head, more = {}) => ({ id: `${name} ${head}`, tex: `\\text{${name}}_${head}`, head, ...more });

const heads = (matrix, letter, count, role) => range(count).map((head) => columnsOf(
  letter, matrix, head * kWidth, (head + 1) * kWidth, numbered("d", kWidth),
  { id: `${letter} ${head}`, tex: `${letter}_${head}`, head, role }));

const sharing = computed(
  "reads", numbered("q head ", kHeads, 0), numbered("kv head ", kKeyHeads, 0),
  range(kHeads).map((head) => range(kKeyHeads).map((of) => Number(group(head) === of))),
  (r) => ({ tex: `\\text{⌊}${r} / 2\\text{⌋} = ${group(r)}`, marks: [] }), { pattern: true });

const cache = computed(
  "cache", ["multi-head", "grouped-query", "multi-query"], ["kv heads", "numbers"],
  [kHeads, kKeyHeads, 1].map((count) => [count, 2 * count * kWidth]),
  (r, c) => ({ tex: c === 0 ? plain([kHeads, kKeyHeads, 1][r]) : `2 \\times ${[kHeads, kKeyHeads, 1][r]} \\times ${kWidth}`,
               marks: c === 0 ? [] : [{ id: "cache", row: r, column: 0 }] }), { shade: "none" });

export const walk = {
  id: "gqa",
  inputs: {
    Q: [[2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 2, 2, 0, 0], [0, 2, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 2],
        [0, 0, 2, 2, 2, 2, 0, 0, 2, 0, 0, 2, 0, 2, 0, 0]],
    K: [[2, 0, 1, 0, 1, 0, 2, 0], [0, 2, 0, 1, 0, 2, 0, 1], [1, 1, 0, 2, 2, 1, 0, 0]],
    V: [[1, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1, 0, 0]],
  },
  controls: [],
  steps({ Q, K, V }) {
    const of = (name, values, columns, role) =>
      given(name, kWords, numbered(columns, values[0].length), values, { input: name, role });
    const q = of("Q", Q, "q", "query"), k = of("K", K, "k", "key"), v = of("V", V, "v", "value");
    const qs = heads(q, "Q", kHeads, "query"), ks = heads(k, "K", kKeyHeads, "key"), vs = heads(v, "V", kKeyHeads, "value");
    const each = range(kHeads);
    const scores = each.map((h) => products("scores", qs[h], ks[group(h)], { id: `scores ${h}` }));
    const scaled = each.map((h) => ({
      ...scaledBy("scaled", scores[h], 1 / Math.sqrt(kWidth), (x) => `\\frac{${plain(x)}}{\\sqrt{${kWidth}}}`, ofHead("scaled", h)),
      from: (r, c) => ({
        tex: `\\frac{${scores[h].from(r, c).tex}}{\\sqrt{${kWidth}}}`,
        marks: [{ id: qs[h].id, row: r }, { id: ks[group(h)].id, row: c }],
      }),
    }));
    const weights = each.map((h) => softmaxOf("weights", scaled[h], ofHead("weights", h, { shade: "weights" })));
    const outputs = each.map((h) => productOf("output", weights[h], vs[group(h)], ofHead("output", h)));
    const joined = sideBySide("concatenation", outputs, numbered("o", kHeads * kWidth));
    return [
      { name: "inputs", formula: `Q [3, ${kHeads} \\times ${kWidth}], \\quad K [3, ${kKeyHeads} \\times ${kWidth}], \\quad V [3, ${kKeyHeads} \\times ${kWidth}]`,
        shown: [[q], [k], [v]], matrices: [q, k, v] },
      { name: "heads", formula: "Q = [Q_0, Q_1, Q_2, Q_3], \\quad K = [K_0, K_1], \\quad V = [V_0, V_1]",
        shown: [[q], qs, [k, v], [...ks, ...vs]], matrices: [...qs, ...ks, ...vs] },
      { name: "sharing", formula: "\\text{kv head}(h) = \\text{⌊}\\frac{h}{4 / 2}\\text{⌋}", shown: [[sharing]], matrices: [sharing] },
      { name: "scaled", formula: "\\text{scaled}_h = \\frac{Q_h K_g^T}{\\sqrt{4}}, \\quad g = \\text{kv head}(h)",
        shown: each.map((h) => [qs[h], "\\times", transposed(ks[group(h)]), `/ \\sqrt{${kWidth}} =`, scaled[h]]), matrices: scaled },
      { name: "weights", formula: "\\text{weights}_h = \\softmax(\\text{scaled}_h)",
        shown: each.map((h) => [scaled[h], "\\to", weights[h]]), matrices: weights },
      { name: "output", formula: "\\text{output}_h = \\text{weights}_h V_g, \\quad g = \\text{kv head}(h)",
        shown: each.map((h) => [weights[h], "\\times", vs[group(h)], "=", outputs[h]]), matrices: outputs },
      { name: "concatenation", formula: "[\\text{output}_0, \\text{output}_1, \\text{output}_2, \\text{output}_3]",
        shown: [outputs, [joined]], matrices: [joined] },
      { name: "cache", formula: "\\text{numbers} = 2 \\times \\text{kv heads} \\times 4", shown: [[cache]], matrices: [cache] },
    ];
  },
};
