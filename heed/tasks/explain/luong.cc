#include <span>
#include <utility>

#include "heed/ops/activation.h"
#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/recurrent_states.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

AttentionStages attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Score& score) {
  return compute_attention_stages(as_one_head(query).view(), as_one_head(keys).view(), as_one_head(values).view(),
                                  {.score = score});
}

// One row for each score: dot, general, concat.
LabelledMatrix row_for_each(std::string name, std::span<const ConstView> rows, std::string_view columns) {
  LabelledMatrix matrix{std::move(name), {"dot", "general", "concat"}, numbered_labels(columns, rows[0].shape[1]), {}};
  for (const ConstView& row : rows) {
    const LabelledMatrix one = numbered_matrix("", row, "", columns);
    matrix.values.insert(matrix.values.end(), one.values.begin(), one.values.end());
  }
  return matrix;
}

// tanh(W_c [c; h]): Luong et al. 2015, eq. 5.
Tensor attentional_vector(const Tensor& w_c, const ConstView& context, const Tensor& decoder) {
  const ConstView parts[] = {context, decoder.view()};
  const Tensor vector = apply_to_rows(w_c.view(), side_by_side(parts).view());
  activate(Activation::tanh, vector, vector);
  return vector;
}

}  // namespace

Explanation explain_luong(Language language) {
  const RecurrentStates states = recurrent_states();
  const Tensor &h_t = states.decoder, &h_s = states.encoder;
  const Tensor w_general = small_matrix({{1, 1}, {0, 2}});
  const Tensor w_c = small_matrix({{1, 0, 0.5, 0}, {0, 1, 0, 0.5}});
  const ConstView halves[] = {states.w_a.view(), states.u_a.view()};
  const Tensor w_concat = side_by_side(halves);  // W [h_t; h_s] = W_a h_t + U_a h_s
  const Tensor projected = apply_to_rows(w_general.view(), h_s.view());
  const Tensor query = apply_to_rows(slice(w_concat.view(), 1, 0, 2), h_t.view());
  const Tensor keys = apply_to_rows(slice(w_concat.view(), 1, 2, 4), h_s.view());
  const AttentionStages dot = attend(h_t, h_s, h_s, Score::dot());
  const AttentionStages general = attend(h_t, projected, h_s, Score::dot());
  const AttentionStages concat = attend(query, keys, h_s, Score::additive(states.v_a.reshape({states.v_a.size()})));

  const ConstView weights[] = {head_of(dot.weights.view(), 0), head_of(general.weights.view(), 0),
                               head_of(concat.weights.view(), 0)};
  const ConstView contexts[] = {head_of(dot.out.view(), 0), head_of(general.out.view(), 0),
                                head_of(concat.out.view(), 0)};
  const Tensor vectors[] = {attentional_vector(w_c, contexts[0], h_t), attentional_vector(w_c, contexts[1], h_t),
                            attentional_vector(w_c, contexts[2], h_t)};
  const ConstView attentional[] = {vectors[0].view(), vectors[1].view(), vectors[2].view()};

  WalkWriter walk("luong", language);
  walk.add("states", "h_t [1, 2], h_s [3, 2]",
           {numbered_matrix("h_t", h_t.view(), "h_t", "d"), numbered_matrix("h_s", h_s.view(), "h", "d")});
  walk.add("dot", "score(h_t, h_s) = h_t . h_s", {numbered_matrix("dot", head_of(dot.scores.view(), 0), "h_t", "h")});
  walk.add("general", "score(h_t, h_s) = h_t . W_a h_s",
           {numbered_matrix("W_a", w_general.view(), "a", "d"), numbered_matrix("W_a h_s", projected.view(), "h", "a"),
            numbered_matrix("general", head_of(general.scores.view(), 0), "h_t", "h")});
  walk.add("concat", "score(h_t, h_s) = v_a . tanh(W_a [h_t; h_s]) = v_a . tanh(W h_t + U h_s),   W_a = [W, U]",
           {numbered_matrix("W_a", w_concat.view(), "a", "d"), numbered_matrix("v_a", states.v_a.view(), "v", "a"),
            numbered_matrix("W h_t", query.view(), "h_t", "a"), numbered_matrix("U h_s", keys.view(), "h", "a"),
            numbered_matrix("concat", head_of(concat.scores.view(), 0), "h_t", "h")});
  const LabelledMatrix all_weights = row_for_each("weights", weights, "h");
  walk.add("weights", "a_t(s) = e^score(h_t, h_s) / sum_s' e^score(h_t, h_s')", {all_weights});
  walk.add("contexts", "c_t = sum_s a_t(s) h_s", {row_for_each("contexts", contexts, "d")});
  walk.add("attentional", "attentional = tanh(W_c [c_t; h_t])",
           {numbered_matrix("W_c", w_c.view(), "w", "d"), row_for_each("attentional", attentional, "w")});
  return std::move(walk).finish({all_weights});
}

}  // namespace heed
