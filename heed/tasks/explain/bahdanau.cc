#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/recurrent_states.h"
#include "heed/tasks/explain/small_matrix.h"
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

Explanation explain_bahdanau() {
  const RecurrentStates states = recurrent_states();
  const Tensor query = apply_to_rows(states.w_a.view(), states.decoder.view());
  const Tensor keys = apply_to_rows(states.u_a.view(), states.encoder.view());
  const Hidden hidden = compute_hidden(query, keys);
  const AttentionStages stages =
      compute_attention_stages(as_one_head(query).view(), as_one_head(keys).view(), as_one_head(states.encoder).view(),
                               {.score = Score::additive(states.v_a.reshape({states.v_a.size()}))});

  Explanation walk{.title = "Bahdanau's additive attention",
                   .introduction =
                       "A recurrent decoder in the state s, about to write a word, asks which of the three "
                       "encoder states h_1, h_2, h_3 it should read (Bahdanau et al. 2015, section 3.1)."};
  walk.steps = {
      {.name = "states",
       .title = "what there is, and the learned weights",
       .formula = "s: the decoder's state; h_j: the encoder's state at source word j; W_a, U_a, v_a: learned",
       .meaning = "The same small network v_a . tanh(W_a s + U_a h) judges every pair of states.",
       .matrices = {numbered_matrix("s", states.decoder.view(), "s", "d"),
                    numbered_matrix("h", states.encoder.view(), "h", "d"),
                    numbered_matrix("W_a", states.w_a.view(), "a", "d"),
                    numbered_matrix("U_a", states.u_a.view(), "a", "d"),
                    numbered_matrix("v_a", states.v_a.view(), "v", "a")}},
      {.name = "projected",
       .title = "both kinds of state in one space",
       .formula = "query = W_a s,   key_j = U_a h_j",
       .meaning = "The keys do not depend on s: they are computed once for a whole sentence.",
       .matrices = {numbered_matrix("W_a s", query.view(), "query", "a"),
                    numbered_matrix("U_a h", keys.view(), "key", "a")}},
      {.name = "tanh",
       .title = "the hidden layer for every source word",
       .formula = "hidden_j = tanh(W_a s + U_a h_j)",
       .meaning = "The sum lets query and key speak for the same word, tanh keeps every number between -1 and 1.",
       .matrices = {numbered_matrix("sum", hidden.sum.view(), "h", "a"),
                    numbered_matrix("tanh", hidden.tanh.view(), "h", "a")}},
      {.name = "energies",
       .title = "one number for every source word",
       .formula = "e_j = v_a . hidden_j",
       .meaning = "The energy says how well the word around j fits what the decoder is about to write.",
       .matrices = {numbered_matrix("e", head_of(stages.scores.view(), 0), "s", "h")}},
      {.name = "weights",
       .title = "softmax of the energies",
       .formula = "alpha_j = e^e_j / sum over j' of e^e_j'",
       .meaning = "The weights are positive and sum to 1: the row of the alignment picture for this target word.",
       .matrices = {numbered_matrix("alpha", head_of(stages.weights.view(), 0), "s", "h")}},
      {.name = "context",
       .title = "the encoder's states, weighted and summed",
       .formula = "c = sum over j of alpha_j h_j",
       .meaning = "The decoder computes its next state from c: what it reads of the source just now.",
       .matrices = {numbered_matrix("c", head_of(stages.out.view(), 0), "c", "d")}}};
  walk.pictured = walk.step("weights").matrices;
  return walk;
}

}  // namespace heed
