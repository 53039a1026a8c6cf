// A causal mask, a padding mask, and both, as `heed explain --example masks`.

import { allowedBy, both, causal } from "../patterns.js";
import { maskedStep, outputStep, scaledStep, weightsStep } from "./attention.js";
import { computed, given, numbered, products } from "./matrices.js";

const kWords = ["the", "cat", "sat", "down"], kPad = "<pad>";

// What a mask makes of the scores: which pairs it allows, the scores under it, and the weights.
function under(name, formula, scaled, pattern) {
  const allowed = allowedBy(pattern, scaled.rows.length, scaled.columns.length);
  const pairs = computed("allowed", scaled.rows, scaled.columns, allowed.map((row) => row.map(Number)),
                         (r, c) => ({ tex: allowed[r][c] ? "1" : "0", marks: [] }), { pattern: true });
  const masked = maskedStep(scaled, allowed).matrices[0];
  const weights = weightsStep(masked).matrices[0];
  return { name, point: "weights", formula, shown: [[scaled, ",", pairs, "\\to", masked, "\\to", weights]], matrices: [pairs, masked, weights] };
}

export const walk = {
  id: "masks",
  // K is 2 I and d_k is 4, so that the scaled scores are Q itself.
  inputs: {
    Q: [[2, 1, 0, 1], [1, 2, 1, 0], [0, 1, 2, 1], [1, 0, 1, 2]],
    K: [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]],
    V: [[1, 0], [0, 1], [1, 1], [9, 9]],
  },
  controls: [{ key: "length", initial: 3, least: 0, most: 4 }],
  steps({ Q, K, V }, { length }) {
    const words = kWords.map((word, i) => (i < length ? word : kPad));
    const of = (name, values, role) => given(name, words, numbered("d", values[0].length), values, { input: name, role });
    const q = of("Q", Q, "query"), k = of("K", K, "key"), v = of("V", V, "value");
    const { matrices: [scaled], shown: [[scores, ...scaling]] } = scaledStep(products("scores", q, k), Q[0].length);
    const padding = (_, j) => j < length;
    const later = "\\text{allowed}_{ij} = j \\le i", real = `\\text{allowed}_{ij} = j \\le ${length}`;
    const last = under("both", `${later} \\text{ and } j \\le ${length}`, scaled, both(causal(), padding));
    return [
      { name: "inputs", formula: "\\softmax(\\frac{Q K^T}{\\sqrt{d_k}} + \\text{mask}) V", shown: [[q, k, v]], matrices: [q, k, v] },
      { name: "scaled", formula: `\\text{scaled} = \\frac{Q K^T}{\\sqrt{${Q[0].length}}}`,
        shown: [[scores, ...scaling]], matrices: [scaled] },
      under("causal", later, scaled, causal()),
      under("padding", real, scaled, padding),
      last,
      outputStep(last.matrices[2], v),
    ];
  },
};
