// Which keys sparse patterns allow in a text of twelve positions, what they cost, and how far two layers see, as
// `heed explain --example windows`; windows and strides can be changed.

import { product, sum } from "../attention.js";
import { allowedBy, both, causal, everything, longformer, slidingWindow, strided } from "../patterns.js";
import { computed, numbered, plain } from "./matrices.js";

const kPositions = 12;
const queries = numbered("q", kPositions, 0), keys = numbered("k", kPositions, 0);

const square = (name, values, from) => computed(name, queries, keys, values, from, { pattern: true });
const allowed = (name, pattern, tex) => square(name, allowedBy(pattern, kPositions, kPositions).map((row) => row.map(Number)),
                                               (r, c) => ({ tex: tex(r, c), marks: [] }));

// 1 where a query of the second layer reads something of a position: through one that the first layer let read it.
function throughTwoLayers(once) {
  const paths = product(once.values, once.values);
  return square(`${once.name}, twice`, paths.map((row) => row.map((count) => Number(count > 0))),
                (r, c) => ({ tex: `\\text{[}${plain(paths[r][c])} > 0\\text{]}`, marks: [] }));
}

function costs(patterns) {
  const pairs = patterns.map(({ values }) => sum(values.flat()));
  return computed("cost", patterns.map(({ name }) => name), ["pairs", "share"],
                  pairs.map((count) => [count, count / kPositions ** 2]),
                  (r, c) => ({ tex: c === 0 ? plain(pairs[r]) : `\\frac{${pairs[r]}}{${kPositions} \\times ${kPositions}}`,
                               marks: c === 0 ? [] : [{ id: "cost", row: r, column: 0 }] }), { shade: "none" });
}

export const walk = {
  id: "windows",
  inputs: {},
  controls: [
    { key: "left", initial: 2, least: 0, most: 11, steps: ["window", "cost", "reach"] },
    { key: "stride", initial: 4, least: 1, most: 11, steps: ["strided", "cost", "reach"] },
    { key: "dilation", initial: 2, least: 1, most: 5, steps: ["dilated", "cost", "reach"] },
    { key: "global", initial: 1, least: 0, most: 4, steps: ["global", "cost", "reach"] },
  ],
  steps(_, { left, stride, dilation, global }) {
    const full = allowed("full", everything(), () => "1");
    const before = allowed("causal", causal(), (i, j) => `\\text{[}${j} \\le ${i}\\text{]}`);
    const window = allowed("window", slidingWindow(left, 0), (i, j) => `\\text{[}${i} - ${left} \\le ${j} \\le ${i}\\text{]}`);
    const steps = allowed("strided", both(strided(stride), causal()),
                          (i, j) => `\\text{[}${j} \\le ${i} \\text{ and } (${i - j} \\le ${stride} \\text{ or } ${i - j} \\text{ mod } ${stride} = 0)\\text{]}`);
    const gaps = allowed("dilated", longformer(2, 0, dilation),
                         (i, j) => `\\text{[}${Math.abs(i - j)} \\le 2 \\times ${dilation} \\text{ and } ${Math.abs(i - j)} \\text{ mod } ${dilation} = 0\\text{]}`);
    const seen = allowed("global", longformer(1, global, 1),
                         (i, j) => `\\text{[}${Math.abs(i - j)} \\le 1 \\text{ or } ${i} < ${global} \\text{ or } ${j} < ${global}\\text{]}`);
    const patterns = [full, before, window, steps, gaps, seen];
    const reach = [window, steps, gaps, seen].map(throughTwoLayers);
    const cost = costs(patterns);
    const formulas = {
      full: "\\text{allowed}(i, j) = 1",
      causal: "\\text{allowed}(i, j) = j \\le i",
      window: `\\text{allowed}(i, j) = i - ${left} \\le j \\le i`,
      strided: `\\text{allowed}(i, j) = j \\le i \\text{ and } (i - j \\le ${stride} \\text{ or } (i - j) \\text{ mod } ${stride} = 0)`,
      dilated: `\\text{allowed}(i, j) = |i - j| \\le 2 \\times ${dilation} \\text{ and } |i - j| \\text{ mod } ${dilation} = 0`,
      global: `\\text{allowed}(i, j) = |i - j| \\le 1 \\text{ or } i < ${global} \\text{ or } j < ${global}`,
    };
    return [
      ...patterns.map((pattern) => ({ name: pattern.name, formula: formulas[pattern.name], shown: [[pattern]], matrices: [pattern] })),
      { name: "cost", formula: `\\text{pairs} = \\sum_{i, j} \\text{allowed}(i, j), \\quad \\text{share} = \\frac{\\text{pairs}}{${kPositions} \\times ${kPositions}}`,
        shown: [[cost]], matrices: [cost] },
      { name: "reach", formula: "\\text{twice}(i, j) = \\text{some } k: \\text{allowed}(i, k) \\text{ and } \\text{allowed}(k, j)",
        shown: [reach], matrices: reach },
    ];
  },
};
