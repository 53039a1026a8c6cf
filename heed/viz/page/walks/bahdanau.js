// Additive attention of one decoder state over three encoder states (Bahdanau et al. 2015, section 3.1 and app. A.1.2),
// as `heed explain --example bahdanau`.

import { productOf, softmaxOf, transposed } from "./matrices.js";
import { applied, hiddenLayer, judged, stateMatrix, states } from "./recurrent_states.js";

export const walk = {
  id: "bahdanau",
  inputs: states,
  controls: [],
  steps(inputs) {
    const s = stateMatrix("s", inputs.s, "s", "d", "s", { role: "query" });
    const h = stateMatrix("h", inputs.h, "h", "d", "h", { role: "key" });
    const w = stateMatrix("W_a", inputs.W_a, "a", "d", "W_a");
    const u = stateMatrix("U_a", inputs.U_a, "a", "d", "U_a");
    const v = stateMatrix("v_a", inputs.v_a, "v", "a", "v_a");
    const query = applied("W_a s", w, s, "query", "a", { role: "query" });
    const keys = applied("U_a h", u, h, "key", "a", { role: "key" });
    const { sum, tanh } = hiddenLayer(query, keys);
    const energies = judged("e", "s", v, tanh);
    const alpha = softmaxOf("alpha", energies, { tex: "\\alpha", shade: "weights" });
    const context = productOf("c", alpha, h, { rows: ["c"] });
    return [
      { name: "states", formula: "e_j = v_a \\cdot \\tanh(W_a s + U_a h_j)",
        shown: [[s, h], [w, u, v]], matrices: [s, h, w, u, v] },
      { name: "projected", formula: "\\text{query} = W_a s, \\quad \\text{key}_j = U_a h_j",
        shown: [[w, "\\times", transposed(s), "\\to", query], [u, "\\times", transposed(h), "\\to", keys]],
        matrices: [query, keys] },
      { name: "tanh", formula: "\\text{hidden}_j = \\tanh(W_a s + U_a h_j)",
        shown: [[query, "+", keys, "=", sum, "\\to", tanh]], matrices: [sum, tanh] },
      { name: "energies", formula: "e_j = v_a \\cdot \\text{hidden}_j",
        shown: [[v, "\\times", transposed(tanh), "=", energies]], matrices: [energies] },
      { name: "weights", formula: "\\alpha_j = \\frac{e^{e_j}}{\\sum_{j'} e^{e_{j'}}}",
        shown: [[energies, "\\to", alpha]], matrices: [alpha] },
      { name: "context", formula: "c = \\sum_j \\alpha_j h_j",
        shown: [[alpha, "\\times", h, "=", context]], matrices: [context] },
    ];
  },
};
