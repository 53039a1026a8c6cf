#include "heed/tasks/explain/attention_walk.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/check.h"
#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"

namespace heed {
namespace {

constexpr Index kMostNumbers = 1 << 20;
// Sums of exponentials from e^-5 = 0.007 to e^20, nine digits: beyond, nobody adds them by hand.
constexpr double kLeastLogSum = -5, kLargestLogSum = 20;

void check_size(const AttentionInputs& problem) {
  for (const Tensor* tensor : {&problem.q, &problem.k, &problem.v}) {
    HEED_CHECK(tensor->rank() == 4 && tensor->dtype() == DType::f64,
               "explain_attention: q, k and v must be f64 [B, H, L, D], but one is {}", describe(tensor->view()));
    HEED_CHECK(tensor->size() >= 1 && tensor->size() <= kMostNumbers,
               "explain_attention: an array must have 1 to {} numbers, but one is {}", kMostNumbers,
               describe(tensor->view()));
  }
  // No factor exceeds 2^20, but all together may not fit an Index.
  const double scores = static_cast<double>(problem.q.dim(0) * problem.q.dim(1)) *
                        static_cast<double>(problem.q.dim(2)) * static_cast<double>(problem.k.dim(2));
  HEED_CHECK(scores <= static_cast<double>(kMostNumbers),
             "explain_attention: every query against every key is more than {} scores: q is {}, k is {}", kMostNumbers,
             describe(problem.q.view()), describe(problem.k.view()));
}

// One matrix for every head of every batch element of a tensor [B, H, R, C].
class HeadMatrices {
 public:
  explicit HeadMatrices(const AttentionInputs& problem)
      : batch_(problem.q.dim(0)), several_heads_(problem.q.dim(1) > 1 || problem.k.dim(1) > 1) {}

  std::vector<LabelledMatrix> of(const std::string& name, const Tensor& tensor, std::string_view rows,
                                 std::string_view columns) const {
    std::vector<LabelledMatrix> matrices;
    for (Index b = 0; b < tensor.dim(0); ++b) {
      for (Index h = 0; h < tensor.dim(1); ++h) {
        matrices.push_back(label_matrix(name + suffix(b, h), head_of(tensor.view(), h, b),
                                        numbered_labels(rows, tensor.dim(2)), numbered_labels(columns, tensor.dim(3))));
      }
    }
    return matrices;
  }

 private:
  std::string suffix(Index b, Index h) const {
    std::string text;
    if (batch_ > 1) text += fmt::format(", batch element {}", b + 1);
    if (several_heads_) text += fmt::format(", head {}", h + 1);
    return text;
  }

  Index batch_;
  bool several_heads_;
};

// e^masked, with the row's sum as the last column: the weight times the sum that row_stat is the log of.
Tensor exponentials_with_sum(const AttentionStages& stages) {
  const View w = stages.weights.view();
  const Tensor e = Tensor::zeros(DType::f64, {w.shape[0], w.shape[1], w.shape[2], w.shape[3] + 1});
  for (Index b = 0; b < w.shape[0]; ++b) {
    for (Index h = 0; h < w.shape[1]; ++h) {
      for (Index i = 0; i < w.shape[2]; ++i) {
        const double sum = std::exp(stages.row_stat.at<double>({b, h, i}));
        for (Index j = 0; j < w.shape[3]; ++j) e.at<double>({b, h, i, j}) = w.at<double>({b, h, i, j}) * sum;
        e.at<double>({b, h, i, w.shape[3]}) = sum;
      }
    }
  }
  return e;
}

bool any_row_stat(const AttentionStages& stages, bool (*is)(double)) {
  const double* stat = stages.row_stat.data<double>();
  return std::any_of(stat, stat + stages.row_stat.size(), is);
}

ExplanationStep inputs_step(const AttentionInputs& p, const HeadMatrices& heads) {
  ExplanationStep step{
      .name = "inputs",
      .title = "queries, keys and values",
      .formula = fmt::format("Q [{}, {}]: a query a row; K [{}, {}]: a key a row; V [{}, {}]: a value for each key",
                             p.q.dim(2), p.q.dim(3), p.k.dim(2), p.k.dim(3), p.v.dim(2), p.v.dim(3)),
      .meaning = "A query says what is looked for, a key what there is to be found, a value what is handed over."};
  if (p.q.dim(1) > p.k.dim(1)) {
    step.meaning += fmt::format(" {} query heads share each head of keys and values.", p.q.dim(1) / p.k.dim(1));
  }
  for (auto&& matrices : {heads.of("Q", p.q, "q", "d"), heads.of("K", p.k, "k", "d"), heads.of("V", p.v, "v", "d")}) {
    step.matrices.insert(step.matrices.end(), matrices.begin(), matrices.end());
  }
  return step;
}

ExplanationStep scores_step(const AttentionStages& stages, const HeadMatrices& heads) {
  return {.name = "scores",
          .title = "every query against every key",
          .formula = "scores = Q K^T,   scores[i, j] = q_i . k_j = sum over d of Q[i, d] K[j, d]",
          .meaning = "A large dot product means that query and key point the same way: the key fits the query.",
          .matrices = heads.of("scores", stages.scores, "q", "k")};
}

ExplanationStep scaled_step(const AttentionInputs& p, const AttentionStages& stages, const HeadMatrices& heads) {
  const Index width = p.q.dim(3);
  ExplanationStep step{.name = "scaled",
                       .title = "kept at one size, however long the vectors are",
                       .formula = fmt::format("scaled = scores / sqrt(d_k) = scores / sqrt({}) = scores / {:.6g}",
                                              width, std::sqrt(static_cast<double>(width))),
                       .meaning =
                           "A dot product of d_k numbers spreads like sqrt(d_k); undone, softmax stays soft and "
                           "its gradient alive.",
                       .matrices = heads.of("scaled", stages.scaled, "q", "k")};
  if (p.scale) {
    step.title = "by the scale that was asked for";
    step.formula = fmt::format("scaled = scores * {:.6g}   (where 1 / sqrt(d_k) would be {:.6g})", *p.scale,
                               1 / std::sqrt(static_cast<double>(width)));
    step.meaning = "A larger scale makes the weights sharper, a smaller one makes them more alike.";
  }
  return step;
}

ExplanationStep masked_step(const AttentionInputs& p, const AttentionStages& stages, const HeadMatrices& heads) {
  ExplanationStep step{.name = "masked",
                       .title = "there is no mask",
                       .formula = "masked = scaled",
                       .meaning = "Every query may attend to every key, so nothing changes.",
                       .matrices = heads.of("masked", stages.masked, "q", "k")};
  if (!p.causal && p.allowed.is_empty()) return step;
  step.formula = "masked[i, j] = scaled[i, j] where query i may attend to key j, else -inf";
  if (p.causal) {
    step.title = "the causal mask";
    step.meaning = "A query sees the keys up to its own position and none that come later.";
    if (p.q.dim(2) != p.k.dim(2)) step.meaning += " The last query stands at the last key.";
  } else {
    step.title = "the mask that was given";
    step.meaning = "Where the mask is false the key does not exist for the query.";
  }
  step.meaning += " e^-inf is 0: such a key gets no weight at all.";
  return step;
}

ExplanationStep exponentials_step(const AttentionStages& stages, const HeadMatrices& heads) {
  ExplanationStep step{.name = "exponentials",
                       .title = "softmax, first half: e to the power of every score",
                       .formula = "exponentials[i, j] = e^masked[i, j],   sum[i] = sum over j of exponentials[i, j]",
                       .meaning = "Exponentials are positive, and a difference of scores becomes a ratio of weights.",
                       .matrices = heads.of("exponentials", exponentials_with_sum(stages), "q", "k")};
  for (LabelledMatrix& matrix : step.matrices) matrix.column_labels.back() = "sum";
  return step;
}

ExplanationStep weights_step(const AttentionStages& stages, const HeadMatrices& heads) {
  ExplanationStep step{.name = "weights",
                       .title = "softmax of every row",
                       .formula = "weights[i, j] = e^masked[i, j] / sum over j' of e^masked[i, j']",
                       .meaning = "Each row is positive and sums to 1: how a query divides its attention.",
                       .matrices = heads.of("weights", stages.weights, "q", "k")};
  if (any_row_stat(stages, [](double stat) { return std::isinf(stat) && stat < 0; })) {
    step.meaning += " A query that may attend to no key has weights of 0 and an output of 0.";
  }
  return step;
}

ExplanationStep output_step(const AttentionStages& stages, const HeadMatrices& heads) {
  return {.name = "output",
          .title = "the values, mixed by the weights",
          .formula = "output = weights V,   output[i] = sum over j of weights[i, j] v_j",
          .meaning = "Each output row lies among the values, nearest to those of the keys that fit its query.",
          .matrices = heads.of("output", stages.out, "o", "d")};
}

ExplanationStep concatenation_step(const AttentionStages& stages) {
  const Tensor& out = stages.out;
  std::vector<ConstView> parts;
  for (Index h = 0; h < out.dim(1); ++h) parts.push_back(head_of(out.view(), h));
  const Tensor joined = side_by_side(parts);
  return {.name = "concatenation",
          .title = "the heads side by side",
          .formula = "concatenation = [output of head 1, output of head 2, ...]",
          .meaning = "What each head found becomes part of one row for each query.",
          .matrices = {label_matrix("concatenation", joined.view(), numbered_labels("o", joined.dim(0)),
                                    numbered_labels("d", joined.dim(1)))}};
}

}  // namespace

AttentionInputs two_by_two_inputs() {
  return {.q = as_one_head(small_matrix({{1, 0, 1}, {0, 1, 1}})),
          .k = as_one_head(small_matrix({{1, 1, 0}, {0, 1, 1}})),
          .v = as_one_head(small_matrix({{1, 2}, {3, 4}}))};
}

Explanation explain_attention(const AttentionInputs& problem) {
  check_size(problem);
  AttentionSpec spec{.score = Score::scaled_dot(problem.scale)};
  if (problem.causal) spec.mask = Mask::causal();
  if (!problem.allowed.is_empty()) spec.mask = spec.mask & Mask::boolean(problem.allowed);
  const AttentionStages stages = compute_attention_stages(problem.q, problem.k, problem.v, spec);
  const HeadMatrices heads(problem);

  Explanation walk{.title = "Scaled dot-product attention",
                   .introduction = "attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V   (Vaswani et al. 2017, eq. 1)"};
  walk.steps = {inputs_step(problem, heads), scores_step(stages, heads), scaled_step(problem, stages, heads),
                masked_step(problem, stages, heads)};
  const auto beyond_pencil =
      [](double stat) {  // a row without keys has a sum of 0, which is easily written; NaN is not
        return !(std::isinf(stat) && stat < 0) && !(stat >= kLeastLogSum && stat <= kLargestLogSum);
      };
  if (!any_row_stat(stages, beyond_pencil)) {
    walk.steps.push_back(exponentials_step(stages, heads));
  }
  walk.steps.push_back(weights_step(stages, heads));
  walk.pictured = walk.steps.back().matrices;
  walk.steps.push_back(output_step(stages, heads));
  if (problem.heads_of_one_matrix) walk.steps.push_back(concatenation_step(stages));
  return walk;
}

}  // namespace heed
