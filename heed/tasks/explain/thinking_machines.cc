#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

const std::vector<std::string> kWords{"Thinking", "Machines"};

// The projections of one head, and what it computes from X.
struct Head {
  Tensor w_q, w_k, w_v;
  Tensor q, k, v;
  AttentionStages stages;
};

Head compute_head(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
  Head head{w_q, w_k, w_v, product(x, w_q), product(x, w_k), product(x, w_v), {}};
  head.stages =
      compute_attention_stages(as_one_head(head.q).view(), as_one_head(head.k).view(), as_one_head(head.v).view(), {});
  return head;
}

// Rows are words; columns are numbered dimensions.
LabelledMatrix of_words(const std::string& name, const ConstView& matrix, std::string_view columns) {
  return label_matrix(name, matrix, kWords, numbered_labels(columns, matrix.shape[1]));
}

LabelledMatrix word_by_word(const std::string& name, const Tensor& heads) {
  return label_matrix(name, head_of(heads.view(), 0), kWords, kWords);
}

LabelledMatrix projection(const std::string& name, const Tensor& weight, std::string_view rows,
                          std::string_view columns) {
  return label_matrix(name, weight.view(), numbered_labels(rows, weight.dim(0)),
                      numbered_labels(columns, weight.dim(1)));
}

std::vector<ExplanationStep> six_steps(const Tensor& x, const Head& head) {
  const AttentionStages& stages = head.stages;
  return {{.name = "embeddings",
           .title = "every word becomes a vector",
           .formula = "X [2, 4]: x_1 is \"Thinking\", x_2 is \"Machines\"",
           .meaning = "An embedding is looked up in a table that training has filled; here the numbers are made up.",
           .matrices = {of_words("X", x.view(), "x")}},
          {.name = "projections",
           .title = "a query, a key and a value for each word",
           .formula = "Q = X W_Q,   K = X W_K,   V = X W_V",
           .meaning =
               "Three learned matrices look at the same embedding in three ways: what the word looks for, what it can "
               "be found by, and what it has to tell.",
           .matrices = {projection("W_Q", head.w_q, "x", "q"), projection("W_K", head.w_k, "x", "k"),
                        projection("W_V", head.w_v, "x", "v"), of_words("Q", head.q.view(), "q"),
                        of_words("K", head.k.view(), "k"), of_words("V", head.v.view(), "v")}},
          {.name = "scores",
           .title = "every query against every key",
           .formula = "scores = Q K^T,   scores[1, 2] = q_1 . k_2",
           .meaning = "The row of a word scores how much each word, itself too, matters to it.",
           .matrices = {word_by_word("scores", stages.scores)}},
          {.name = "scaled",
           .title = "divided by the square root of the key's width",
           .formula = "scaled = scores / sqrt(d_k) = scores / sqrt(3) = scores / 1.73205",
           .meaning = "Longer vectors would have larger dot products; divided, the gradients stay steady.",
           .matrices = {word_by_word("scaled", stages.scaled)}},
          {.name = "weights",
           .title = "softmax of every row",
           .formula = "weights[i, j] = e^scaled[i, j] / sum over j' of e^scaled[i, j']",
           .meaning = "Each row is positive and sums to 1: how the word divides its attention.",
           .matrices = {word_by_word("weights", stages.weights)}},
          {.name = "output",
           .title = "the values, weighted and summed",
           .formula = "Z = weights V,   z_1 = weights[1, 1] v_1 + weights[1, 2] v_2",
           .meaning = "z_1 is what \"Thinking\" has become after looking around: mostly the values it attends to.",
           .matrices = {of_words("Z", head_of(stages.out.view(), 0), "z")}}};
}

ExplanationStep second_head_step(const Head& head) {
  return {.name = "heads",
          .title = "a second head, with projections of its own",
          .formula = "Q_2 = X W_Q2,   K_2 = X W_K2,   V_2 = X W_V2,   Z_2 = softmax(Q_2 K_2^T / sqrt(3)) V_2",
          .meaning =
              "Another head can look for something else: in the first each word reads mostly \"Thinking\", in "
              "this one each reads mostly the other.",
          .matrices = {projection("W_Q2", head.w_q, "x", "q"), projection("W_K2", head.w_k, "x", "k"),
                       projection("W_V2", head.w_v, "x", "v"), of_words("Q_2", head.q.view(), "q"),
                       of_words("K_2", head.k.view(), "k"), of_words("V_2", head.v.view(), "v"),
                       word_by_word("scores_2", head.stages.scores), word_by_word("scaled_2", head.stages.scaled),
                       word_by_word("weights_2", head.stages.weights),
                       of_words("Z_2", head_of(head.stages.out.view(), 0), "z")}};
}

}  // namespace

Explanation explain_thinking_machines() {
  const Tensor x = small_matrix({{1, 0, 1, 0}, {0, 1, 0, 1}});
  const Head first = compute_head(x, small_matrix({{1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}}),
                                  small_matrix({{0, 1, 1}, {1, 0, 0}, {1, 0, 1}, {0, 1, 0}}),
                                  small_matrix({{1, 0, 2}, {0, 1, 0}, {0, 3, 1}, {2, 0, 1}}));
  const Head second = compute_head(x, small_matrix({{0, 1, 0}, {1, 0, 1}, {1, 0, 0}, {0, 0, 1}}),
                                   small_matrix({{1, 0, 0}, {0, 2, 0}, {0, 0, 1}, {0, 0, 1}}),
                                   small_matrix({{0, 1, 1}, {1, 0, 0}, {1, 0, 0}, {1, 0, 2}}));
  const ConstView outputs[] = {head_of(first.stages.out.view(), 0), head_of(second.stages.out.view(), 0)};
  const Tensor joined = side_by_side(outputs);
  const Tensor w_o = small_matrix({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 1, 0}});

  Explanation walk{.title = "Thinking Machines: self-attention of two words",
                   .introduction =
                       "Two words, embeddings of width 4, and heads of width d_k = 3: from the words to Z in "
                       "six steps, then a second head, the heads side by side, and W_O. A Transformer has "
                       "wider vectors and more words; nothing else differs."};
  walk.steps = six_steps(x, first);
  walk.steps.push_back(second_head_step(second));
  walk.steps.push_back({.name = "concatenation",
                        .title = "the heads side by side",
                        .formula = "concatenation = [Z, Z_2]   [2, 3 + 3]",
                        .meaning = "Each word now has what both heads found.",
                        .matrices = {of_words("concatenation", joined.view(), "z")}});
  walk.steps.push_back({.name = "projection",
                        .title = "back to the width of an embedding",
                        .formula = "output = concatenation W_O   [2, 6] [6, 4] = [2, 4]",
                        .meaning = "W_O, learned too, mixes the heads; the result is as wide as X, so that the next "
                                   "layer can begin where this one began.",
                        .matrices = {projection("W_O", w_o, "z", "o"),
                                     of_words("output", product(joined.view(), w_o.view()).view(), "o")}});
  walk.pictured = {word_by_word("head 1", first.stages.weights), word_by_word("head 2", second.stages.weights)};
  return walk;
}

}  // namespace heed
