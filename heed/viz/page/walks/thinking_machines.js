// "Thinking Machines" in the six steps of The Illustrated Transformer, with d_k = 64, then a second head and W_O; as
// `heed explain --example thinking-machines`. Each row of a projection repeats its first eight numbers eight times, and
// the eight are what the reader may change.

import { scaledStep, weightsStep } from "./attention.js";
import { eachOf, factor, given, numbered, plain, productOf, products, scaledBy, sideBySide, softmaxOf, transposed }
  from "./matrices.js";

const kWords = ["Thinking", "Machines"];
const kRepeats = 8, kBlock = 8, kWidth = kRepeats * kBlock;

const projection = (name, input, block, columns, role, tex) => given(
  name, numbered("x", block.length), numbered(columns, kWidth),
  block.map((row) => Array.from({ length: kWidth }, (_, c) => row[c % kBlock])),
  { input, role, tex, place: (r, c) => [r, c % kBlock] });

// W_O [128, 4]: the block of each head eight times.
const outputProjection = (blocks) => given(
  "W_O", numbered("z", 2 * kWidth), numbered("o", blocks[0].length),
  Array.from({ length: 2 * kWidth }, (_, r) => blocks[blockRow(r)]),
  { input: "W_O", place: (r, c) => [blockRow(r), c] });
const blockRow = (r) => (r < kWidth ? 0 : kBlock) + r % kBlock;

// The matrices of one head; `second` is "" or "2".
function headOf(x, inputs, second) {
  const tail = second && `_${second}`;
  const [q, k, v] = [["Q", "query"], ["K", "key"], ["V", "value"]].map(([letter, role]) => {
    const key = `W_${letter}${second}`;
    const weight = projection(key, key, inputs[key], letter.toLowerCase(), role, `W_{${letter}${tail}}`);
    const rows = productOf(`${letter}${tail}`, x, weight, { role });
    return { weight, rows };
  });
  const scores = products(`scores${tail}`, q.rows, k.rows, { columns: kWords });
  return { q, k, v, scores };
}

// The values, each times the weight that word `query` has for it.
const weightedValues = (v, weights, query) => eachOf(
  `weighted, ${kWords[query]}`, v, (x, r) => weights.values[query][r] * x,
  (x, r) => `${plain(weights.values[query][r])} \\times ${factor(x)}`, { role: "value" });

export const walk = {
  id: "thinking-machines",
  inputs: {
    X: [[1, 0, 1, 0], [0, 1, 0, 1]],
    W_Q: [[1, 0, 1, 1, 1, 1, 0, 1], [1, 1, 0, 1, 1, 0, 1, 0], [1, 0, 1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 0, 1, 1, 1]],
    W_K: [[1, 0, 0, 0, 1, 1, 0, 1], [1, 1, 0, 1, 0, 1, 0, 0], [1, 1, 1, 1, 0, 0, 0, 1], [1, 1, 0, 0, 1, 1, 0, 0]],
    W_V: [[1, 0, 2, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 0, 1, 0], [0, 2, 1, 0, 0, 1, 0, 1]],
    W_Q2: [[1, 0, 1, 1, 0, 1, 1, 0], [1, 1, 0, 0, 0, 1, 0, 1], [0, 0, 1, 0, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0, 1, 1]],
    W_K2: [[1, 1, 1, 1, 1, 0, 0, 1], [0, 1, 1, 1, 1, 0, 1, 0], [1, 1, 1, 0, 1, 0, 1, 0], [1, 0, 1, 1, 1, 1, 1, 1]],
    W_V2: [[0, 1, 1, 0, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0, 1, 1], [1, 0, 1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 1, 1, 0, 0]],
    W_O: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0],
          [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
      .map((row) => row.map((x) => x / 8)),
  },
  controls: [],
  steps(inputs) {
    const x = given("X", kWords, numbered("x", inputs.X[0].length), inputs.X, { input: "X" });
    const first = headOf(x, inputs, ""), second = headOf(x, inputs, "2");
    const scaled = { ...scaledStep(first.scores, kWidth), variant: undefined };
    const weighing = weightsStep(scaled.matrices[0]), [weights] = weighing.matrices;
    const z = productOf("Z", weights, first.v.rows, { columns: numbered("z", kWidth) });
    const scaled2 = scaledBy("scaled_2", second.scores, 1 / Math.sqrt(kWidth), (s) => `\\frac{${plain(s)}}{8}`);
    const weights2 = softmaxOf("weights_2", scaled2, { shade: "weights" });
    const z2 = productOf("Z_2", weights2, second.v.rows, { columns: numbered("z", kWidth) });
    const joined = sideBySide("concatenation", [z, z2], numbered("z", 2 * kWidth));
    const weight = outputProjection(inputs.W_O), output = productOf("output", joined, weight);
    const projected = ({ q, k, v }) => [q, k, v].map((one) => [x, "\\times", one.weight, "=", one.rows]);
    const parts = ({ q, k, v }) => [...[q, k, v].map((one) => one.weight), ...[q, k, v].map((one) => one.rows)];
    const value = (r, c) => plain(first.scores.values[r][c]);
    return [
      { name: "projections", formula: "Q = X W_Q, \\quad K = X W_K, \\quad V = X W_V",
        shown: projected(first), matrices: [x, ...parts(first)] },
      { name: "scores",
        formula: `\\text{scores} = Q K^T, \\quad q_1 \\cdot k_1 = ${value(0, 0)}, \\quad q_1 \\cdot k_2 = ${value(0, 1)}`,
        shown: [[first.q.rows, "\\times", transposed(first.k.rows), "=", first.scores]], matrices: [first.scores] },
      scaled, weighing,
      ...weighed(weights, first.v.rows, z),
      { name: "heads",
        formula: "Z_2 = \\softmax(\\frac{Q_2 K_2^T}{\\sqrt{64}}) V_2",
        shown: [...projected(second), [second.scores, "\\to", scaled2, "\\to", weights2], [weights2, "\\times", second.v.rows, "=", z2]],
        matrices: [...parts(second), second.scores, scaled2, weights2, z2] },
      { name: "concatenation", formula: "\\text{concatenation} = [Z, Z_2]", shown: [[z], [z2], [joined]], matrices: [joined] },
      { name: "projection", formula: "\\text{output} = \\text{concatenation}\\, W_O",
        shown: [[joined, "\\times", weight, "=", output]], matrices: [weight, output] },
    ];
  },
};

// The last two of the six steps.
function weighed(weights, v, z) {
  const weighted = kWords.map((_, query) => weightedValues(v, weights, query));
  return [
    { name: "weighted", formula: "\\text{weighted}_{ij} = \\text{weights}_{ij} v_j",
      shown: [[weights, ",", v], ...weighted.map((one) => [one])], matrices: weighted },
    { name: "output", formula: "z_i = \\sum_j \\text{weights}_{ij} v_j, \\quad Z = \\text{weights}\\, V",
      shown: [[weights, "\\times", v, "=", z]], matrices: [z] },
  ];
}
