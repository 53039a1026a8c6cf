// Two queries, two keys: scaled dot-product attention (Vaswani et al. 2017, eq. 1), as `heed explain`.

import { allowedBy, causal, everything } from "../patterns.js";
import { eachOf, exponentialsOf, given, numbered, plain, productOf, products, scaledBy, softmaxOf, transposed }
  from "./matrices.js";

// The steps from scores to output of queries, keys and values that are there: other walks have them too.
function scoresStep(q, k, more = {}) {
  const scores = products("scores", q, k, more);
  return {
    name: "scores", variant: "dot",
    formula: "\\text{scores} = Q K^T, \\quad \\text{scores}_{ij} = q_i \\cdot k_j = \\sum_d Q_{id} K_{jd}",
    shown: [[q, "\\times", transposed(k), "=", scores]],
    matrices: [scores],
  };
}

export function scaledStep(scores, width, more = {}) {
  const scaled = scaledBy("scaled", scores, 1 / Math.sqrt(width),
                          (x) => `\\frac{${plain(x)}}{\\sqrt{${width}}}`, more);
  return {
    name: "scaled", variant: "root",
    formula: `\\text{scaled} = \\frac{Q K^T}{\\sqrt{d_k}} = \\frac{\\text{scores}}{\\sqrt{${width}}} = ` +
             `\\frac{\\text{scores}}{${plain(Math.sqrt(width))}}`,
    shown: [[scores, `/ \\sqrt{${width}} =`, scaled]],
    matrices: [scaled],
  };
}

export function maskedStep(scaled, allowed, more = {}) {
  const masked = eachOf("masked", scaled, (x, r, c) => (allowed[r][c] ? x : -Infinity),
                        (x, r, c) => (allowed[r][c] ? plain(x) : "-\\infty"), more);
  return {
    name: "masked",
    formula: "\\text{masked}_{ij} = \\text{scaled}_{ij} \\text{ or } -\\infty",
    shown: [[scaled, "\\to", masked]],
    matrices: [masked],
  };
}

export function weightsStep(masked, more = {}) {
  const weights = softmaxOf("weights", masked, { shade: "weights", ...more });
  return {
    name: "weights",
    formula: `\\text{weights}_{ij} = \\frac{e^{\\text{${masked.name}}_{ij}}}{\\sum_{j'} e^{\\text{${masked.name}}_{ij'}}}`,
    shown: [[masked, "\\to", weights]],
    matrices: [weights],
  };
}

export function outputStep(weights, v, more = {}) {
  const output = productOf("output", weights, v, more);
  return {
    name: "output",
    formula: "\\text{output} = \\text{weights}\\, V, \\quad \\text{output}_i = \\sum_j \\text{weights}_{ij} v_j",
    shown: [[weights, "\\times", v, "=", output]],
    matrices: [output],
  };
}

export const walk = {
  id: "attention",
  command(inputs, { causal: isCausal }) {
    const own = JSON.stringify(inputs) !== JSON.stringify(walk.inputs);
    const arrays = own ? ["Q", "K", "V"].map((name) => ` --${name.toLowerCase()} '${JSON.stringify(inputs[name])}'`).join("") : "";
    return `heed explain${arrays}${isCausal ? " --mask causal" : ""}`;
  },
  inputs: {
    Q: [[1, 0, 1], [0, 1, 1]],
    K: [[1, 1, 0], [0, 1, 1]],
    V: [[1, 2], [3, 4]],
  },
  // Queries and keys are equally wide, and each key has a value; how many there are is free.
  fits: ({ Q, K, V }) => Q[0].length === K[0].length && K.length === V.length,
  controls: [{ key: "causal", initial: false }],
  steps({ Q, K, V }, { causal: isCausal }) {
    const q = given("Q", numbered("q", Q.length), numbered("d", Q[0].length), Q, { input: "Q", role: "query" });
    const k = given("K", numbered("k", K.length), numbered("d", K[0].length), K, { input: "K", role: "key" });
    const v = given("V", numbered("k", V.length), numbered("d", V[0].length), V, { input: "V", role: "value" });
    const scores = scoresStep(q, k);
    const scaled = scaledStep(scores.matrices[0], Q[0].length);
    const allowed = allowedBy(isCausal ? causal() : everything(), Q.length, K.length);
    const masked = maskedStep(scaled.matrices[0], allowed);
    masked.variant = isCausal ? "causal" : "none";
    masked.says = isCausal ? ["masked.zero"] : [];
    if (!isCausal) masked.formula = "\\text{masked} = \\text{scaled}";
    const exponentials = exponentialsOf("exponentials", masked.matrices[0], { tex: "e^{\\text{masked}}" });
    const weights = { ...weightsStep(masked.matrices[0]), variant: "softmax", says: ["weights.ones"] };
    const output = outputStep(weights.matrices[0], v, { rows: numbered("o", Q.length) });
    return [
      { name: "inputs", formula: "\\text{attention}(Q, K, V) = \\softmax(\\frac{Q K^T}{\\sqrt{d_k}}) V",
        shown: [[q], [k], [v]], matrices: [q, k, v] },
      scores, scaled, masked,
      { name: "exponentials",
        formula: "\\text{exponentials}_{ij} = e^{\\text{masked}_{ij}}, \\quad \\text{sum}_i = \\sum_j e^{\\text{masked}_{ij}}",
        shown: [[masked.matrices[0], "\\to", exponentials]], matrices: [exponentials] },
      weights, output,
    ];
  },
};
