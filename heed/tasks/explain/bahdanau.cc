#include <utility>

#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/recurrent_states.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

// What lies inside v_a . tanh(...): the operator never builds it, so it is built here from its parts.
struct Hidden {
  Tensor sum, tanh;  // [3, 3]: an encoder state a row
};

Hidden compute_hidden(const Tensor& query, const Tensor& keys) {
  const Hidden hidden{Tensor::empty_like(keys.view()), Tensor::empty_like(keys.view())};
  add_row(keys, query.reshape({query.size()}), hidden.sum);
  activate(Activation::tanh, hidden.sum, hidden.tanh);
  return hidden;
}

}  // namespace

Explanation explain_bahdanau(Language language) {
  const RecurrentStates states = recurrent_states();
  const Tensor query = apply_to_rows(states.w_a.view(), states.decoder.view());
  const Tensor keys = apply_to_rows(states.u_a.view(), states.encoder.view());
  const Hidden hidden = compute_hidden(query, keys);
  const AttentionStages stages =
      compute_attention_stages(as_one_head(query).view(), as_one_head(keys).view(), as_one_head(states.encoder).view(),
                               {.score = Score::additive(states.v_a.reshape({states.v_a.size()}))});

  WalkWriter walk("bahdanau", language);
  walk.add("states", "s [1, 2], h [3, 2], W_a [3, 2], U_a [3, 2], v_a [3]",
           {numbered_matrix("s", states.decoder.view(), "s", "d"),
            numbered_matrix("h", states.encoder.view(), "h", "d"), numbered_matrix("W_a", states.w_a.view(), "a", "d"),
            numbered_matrix("U_a", states.u_a.view(), "a", "d"), numbered_matrix("v_a", states.v_a.view(), "v", "a")});
  walk.add("projected", "query = W_a s,   key_j = U_a h_j",
           {numbered_matrix("W_a s", query.view(), "query", "a"), numbered_matrix("U_a h", keys.view(), "key", "a")});
  walk.add(
      "tanh", "hidden_j = tanh(W_a s + U_a h_j)",
      {numbered_matrix("sum", hidden.sum.view(), "h", "a"), numbered_matrix("tanh", hidden.tanh.view(), "h", "a")});
  walk.add("energies", "e_j = v_a . hidden_j", {numbered_matrix("e", head_of(stages.scores.view(), 0), "s", "h")});
  const LabelledMatrix alpha = numbered_matrix("alpha", head_of(stages.weights.view(), 0), "s", "h");
  walk.add("weights", "alpha_j = e^e_j / sum_j' e^e_j'", {alpha});
  walk.add("context", "c = sum_j alpha_j h_j", {numbered_matrix("c", head_of(stages.out.view(), 0), "c", "d")});
  return std::move(walk).finish({alpha});
}

}  // namespace heed
