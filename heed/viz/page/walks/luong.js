// Global attention with the dot, general and concat scores (Luong et al. 2015, section 3.1 and eq. 5), on the states of
// Bahdanau's walk, as `heed explain --example luong`.

import { dot } from "../attention.js";
import { computed, productOf, products, productTex, softmaxOf, softmaxTex, transposed } from "./matrices.js";
import { applied, hiddenLayer, judged, stateMatrix, states } from "./recurrent_states.js";

const kScores = ["dot", "general", "concat"];

export const walk = {
  id: "luong",
  inputs: {
    h_t: states.s,
    h_s: states.h,
    W_a: [[1, 1], [0, 2]],
    // W and U side by side: W [h_t; h_s] = W_a h_t + U_a h_s.
    W_concat: states.W_a.map((row, i) => [...row, ...states.U_a[i]]),
    v_a: states.v_a,
    W_c: [[1, 0, 0.5, 0], [0, 1, 0, 0.5]],
  },
  controls: [],
  steps(inputs) {
    const state = stateMatrix("h_t", inputs.h_t, "h_t", "d", "h_t", { role: "query" });
    const source = stateMatrix("h_s", inputs.h_s, "h", "d", "h_s", { role: "key" });
    const general = stateMatrix("W_a", inputs.W_a, "a", "d", "W_a");
    const concat = stateMatrix("W_a", inputs.W_concat, "a", "d", "W_concat");
    const v = stateMatrix("v_a", inputs.v_a, "v", "a", "v_a");
    const joint = stateMatrix("W_c", inputs.W_c, "w", "d", "W_c");
    const half = (from) => ({ id: "W_a", rows: concat.rows, values: concat.values.map((row) => row.slice(from, from + 2)) });
    const projected = applied("W_a h_s", general, source, "h", "a", { role: "key" });
    const query = applied("W h_t", half(0), state, "h_t", "a", { role: "query" });
    const keys = applied("U h_s", half(2), source, "h", "a", { role: "key" });
    const { sum, tanh } = hiddenLayer(query, keys);
    const scores = [
      products("dot", state, source),
      products("general", state, projected),
      judged("concat", "h_t", v, tanh),
    ];
    const all = { id: "scores", rows: kScores, columns: source.rows, values: scores.map((score) => score.values[0]) };
    const weights = softmaxOf("weights", all, { tex: "a_t", shade: "weights" });
    weights.from = (r, c) => ({ tex: softmaxTex(all.values[r], c), marks: [{ id: kScores[r] }] });
    const contexts = productOf("contexts", weights, source, { tex: "c_t" });
    const both = contexts.values.map((row) => [...row, ...state.values[0]]);
    const attentional = computed(
      "attentional", kScores, joint.rows,
      both.map((pair) => joint.values.map((row) => Math.tanh(dot(row, pair)))), (r, c) => ({
        tex: `\\tanh(${productTex(joint.values[c], both[r])})`,
        marks: [{ id: "W_c", row: c }, { id: "contexts", row: r }, { id: "h_t" }],
      }));
    return [
      { name: "states", formula: "\\text{score}(h_t, h_s)", shown: [[state, source]], matrices: [state, source] },
      { name: "dot", formula: "\\score(h_t, h_s) = h_t \\cdot h_s",
        shown: [[state, "\\times", transposed(source), "=", scores[0]]], matrices: [scores[0]] },
      { name: "general", formula: "\\score(h_t, h_s) = h_t \\cdot W_a h_s",
        shown: [[general, "\\times", transposed(source), "\\to", projected],
                [state, "\\times", transposed(projected), "=", scores[1]]],
        matrices: [general, projected, scores[1]] },
      { name: "concat", formula: "\\score(h_t, h_s) = v_a \\cdot \\tanh(W_a [h_t; h_s]) = v_a \\cdot \\tanh(W h_t + U h_s)",
        shown: [[concat, v], [query, "+", keys, "=", sum, "\\to", tanh], [v, "\\times", transposed(tanh), "=", scores[2]]],
        matrices: [concat, v, query, keys, scores[2]] },
      { name: "weights", formula: "a_t(s) = \\frac{e^{\\score(h_t, h_s)}}{\\sum_{s'} e^{\\score(h_t, h_{s'})}}",
        shown: [[...scores.flatMap((score, i) => (i > 0 ? [",", score] : [score])), "\\to", weights]], matrices: [weights] },
      { name: "contexts", formula: "c_t = \\sum_s a_t(s) h_s",
        shown: [[weights, "\\times", source, "=", contexts]], matrices: [contexts] },
      { name: "attentional", formula: "\\text{attentional} = \\tanh(W_c [c_t; h_t])",
        shown: [[joint, ",", contexts, ",", state, "\\to", attentional]], matrices: [joint, attentional] },
    ];
  },
};
