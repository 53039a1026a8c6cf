#include <utility>

#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/word_labels.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

const WordLabels kTwoWords{{"Thinking", "Machines"}};
// d_k is 64, as in the paper. Each row of a projection repeats its first eight numbers eight times: a dot product of
// queries and keys is eight times that of their first eight numbers, which is done with a pencil, and divided by
// sqrt(64) it is just that.
constexpr Index kRepeats = 8;

// The projections of one head, and what it computes from X.
struct Head {
  Tensor w_q, w_k, w_v;
  Tensor q, k, v;
  AttentionStages stages;
};

Tensor repeated(const Tensor& eight_columns) {
  const std::vector<ConstView> parts(kRepeats, eight_columns.view());
  return side_by_side(parts);
}

Head compute_head(const Tensor& x, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
  Head head{repeated(w_q), repeated(w_k), repeated(w_v), {}, {}, {}, {}};
  head.q = product(x, head.w_q), head.k = product(x, head.w_k), head.v = product(x, head.w_v);
  head.stages =
      compute_attention_stages(as_one_head(head.q).view(), as_one_head(head.k).view(), as_one_head(head.v).view(), {});
  return head;
}

Head first_head(const Tensor& x) {
  return compute_head(
      x,
      small_matrix(
          {{1, 0, 1, 1, 1, 1, 0, 1}, {1, 1, 0, 1, 1, 0, 1, 0}, {1, 0, 1, 1, 1, 1, 0, 0}, {1, 1, 0, 1, 0, 1, 1, 1}}),
      small_matrix(
          {{1, 0, 0, 0, 1, 1, 0, 1}, {1, 1, 0, 1, 0, 1, 0, 0}, {1, 1, 1, 1, 0, 0, 0, 1}, {1, 1, 0, 0, 1, 1, 0, 0}}),
      small_matrix(
          {{1, 0, 2, 0, 1, 1, 0, 1}, {0, 1, 0, 1, 0, 1, 1, 0}, {1, 0, 0, 1, 1, 0, 1, 0}, {0, 2, 1, 0, 0, 1, 0, 1}}));
}

Head second_head(const Tensor& x) {
  return compute_head(
      x,
      small_matrix(
          {{1, 0, 1, 1, 0, 1, 1, 0}, {1, 1, 0, 0, 0, 1, 0, 1}, {0, 0, 1, 0, 1, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 1, 1}}),
      small_matrix(
          {{1, 1, 1, 1, 1, 0, 0, 1}, {0, 1, 1, 1, 1, 0, 1, 0}, {1, 1, 1, 0, 1, 0, 1, 0}, {1, 0, 1, 1, 1, 1, 1, 1}}),
      small_matrix(
          {{0, 1, 1, 0, 0, 1, 0, 0}, {1, 0, 0, 1, 0, 0, 1, 1}, {1, 0, 1, 0, 1, 0, 0, 1}, {0, 1, 0, 1, 1, 1, 0, 0}}));
}

// [128, 4]: eight times eight rows for each of the two heads, an eighth of whole numbers, so that the repeats do not
// make the output large.
Tensor output_projection() {
  const Tensor eighths[] = {small_matrix({{1, 0, 0, 0},
                                          {0, 1, 0, 0},
                                          {0, 0, 1, 0},
                                          {0, 0, 0, 1},
                                          {1, 0, 1, 0},
                                          {0, 1, 0, 1},
                                          {1, 0, 0, 1},
                                          {0, 1, 1, 0}}),
                            small_matrix({{0, 1, 0, 1},
                                          {1, 0, 1, 0},
                                          {1, 1, 0, 0},
                                          {0, 0, 1, 1},
                                          {0, 0, 0, 1},
                                          {0, 0, 1, 0},
                                          {0, 1, 0, 0},
                                          {1, 0, 0, 0}})};
  const Tensor w_o = Tensor::empty(DType::f64, {2 * kRepeats * 8, 4});
  for (Index r = 0; r < w_o.dim(0); ++r) {
    const Tensor& of_head = eighths[r / (kRepeats * 8)];
    for (Index c = 0; c < 4; ++c) w_o.at<double>({r, c}) = of_head.at<double>({r % 8, c}) / 8;
  }
  return w_o;
}

LabelledMatrix projection(const std::string& name, const Tensor& weight, std::string_view rows,
                          std::string_view columns) {
  return label_matrix(name, weight.view(), numbered_labels(rows, weight.dim(0)),
                      numbered_labels(columns, weight.dim(1)));
}

// The values, each times the weight that word `query` has for it.
LabelledMatrix weighted_values(const Head& head, Index query) {
  const Tensor weighted = head.v.clone();
  for (Index j = 0; j < weighted.dim(0); ++j) {
    const double weight = head.stages.weights.at<double>({0, 0, query, j});
    for (Index d = 0; d < weighted.dim(1); ++d) weighted.at<double>({j, d}) *= weight;
  }
  return kTwoWords.rows("weighted, " + kTwoWords.words[static_cast<std::size_t>(query)], weighted.view(), "v");
}

void add_six_steps(WalkWriter& walk, const Tensor& x, const Head& head) {
  const AttentionStages& stages = head.stages;
  walk.add(
      "projections", "Q = X W_Q,   K = X W_K,   V = X W_V   [2, 4] [4, 64] = [2, 64]",
      {kTwoWords.rows("X", x.view(), "x"), projection("W_Q", head.w_q, "x", "q"), projection("W_K", head.w_k, "x", "k"),
       projection("W_V", head.w_v, "x", "v"), kTwoWords.rows("Q", head.q.view(), "q"),
       kTwoWords.rows("K", head.k.view(), "k"), kTwoWords.rows("V", head.v.view(), "v")});
  walk.add("scores", "scores = Q K^T,   q_1 . k_1 = 112,   q_1 . k_2 = 96", {kTwoWords.pairs("scores", stages.scores)});
  walk.add("scaled", "scaled = scores / sqrt(d_k) = scores / sqrt(64) = scores / 8",
           {kTwoWords.pairs("scaled", stages.scaled)});
  walk.add("weights", "weights[i, j] = e^scaled[i, j] / sum_j' e^scaled[i, j']",
           {kTwoWords.pairs("weights", stages.weights)});
  walk.add("weighted", "weighted_i[j] = weights[i, j] v_j", {weighted_values(head, 0), weighted_values(head, 1)});
  walk.add("output", "z_i = sum_j weights[i, j] v_j,   Z = weights V",
           {kTwoWords.rows("Z", head_of(stages.out.view(), 0), "z")});
}

}  // namespace

Explanation explain_thinking_machines(Language language) {
  const Tensor x = small_matrix({{1, 0, 1, 0}, {0, 1, 0, 1}});
  const Head first = first_head(x), second = second_head(x);
  const ConstView outputs[] = {head_of(first.stages.out.view(), 0), head_of(second.stages.out.view(), 0)};
  const Tensor joined = side_by_side(outputs), w_o = output_projection();

  WalkWriter walk("thinking-machines", language);
  add_six_steps(walk, x, first);
  walk.add("heads", "Q_2 = X W_Q2,   K_2 = X W_K2,   V_2 = X W_V2,   Z_2 = softmax(Q_2 K_2^T / sqrt(64)) V_2",
           {projection("W_Q2", second.w_q, "x", "q"), projection("W_K2", second.w_k, "x", "k"),
            projection("W_V2", second.w_v, "x", "v"), kTwoWords.rows("Q_2", second.q.view(), "q"),
            kTwoWords.rows("K_2", second.k.view(), "k"), kTwoWords.rows("V_2", second.v.view(), "v"),
            kTwoWords.pairs("scores_2", second.stages.scores), kTwoWords.pairs("scaled_2", second.stages.scaled),
            kTwoWords.pairs("weights_2", second.stages.weights), kTwoWords.rows("Z_2", outputs[1], "z")});
  walk.add("concatenation", "concatenation = [Z, Z_2]   [2, 64 + 64]",
           {kTwoWords.rows("concatenation", joined.view(), "z")});
  walk.add(
      "projection", "output = concatenation W_O   [2, 128] [128, 4] = [2, 4]",
      {projection("W_O", w_o, "z", "o"), kTwoWords.rows("output", product(joined.view(), w_o.view()).view(), "o")});
  LabelledMatrix weights[] = {kTwoWords.pairs("weights", first.stages.weights),
                              kTwoWords.pairs("weights", second.stages.weights)};
  weights[0].head = 0, weights[1].head = 1;
  return std::move(walk).finish({weights[0], weights[1]});
}

}  // namespace heed
