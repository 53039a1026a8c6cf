#include "heed/tasks/explain/attention_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/check.h"

namespace heed {
namespace {

// Sums of exponentials from e^-5 = 0.007 to e^20, nine digits: beyond, nobody adds them by hand.
constexpr double kLeastLogSum = -5, kLargestLogSum = 20;

using Kind = Score::Kind;
using Normal = Normaliser::Kind;

// --- Scores ----------------------------------------------------------------------------------------------------------

const char* feature_formula(FeatureMap::Kind kind) {
  switch (kind) {
    case FeatureMap::Kind::elu_plus_one:
      return "phi(x) = x + 1 where x > 0, else e^x";
    case FeatureMap::Kind::relu:
      return "phi(x) = max(x, 0)";
    case FeatureMap::Kind::positive_random:
      break;
  }
  return "phi(x)_m = e^(w_m . x' - |x'|^2 / 2) / sqrt(M),   x' = x / d_k^(1/4)";
}

// phi of every number, where it is of each number by itself.
Tensor features(const Tensor& x, FeatureMap::Kind kind) {
  const Tensor phi = x.clone();
  double* numbers = phi.data<double>();
  for (Index i = 0; i < phi.size(); ++i) {
    const double number = numbers[i];
    numbers[i] = kind == FeatureMap::Kind::relu ? std::max(number, 0.0) : number > 0 ? number + 1 : std::exp(number);
  }
  return phi;
}

void add_features(WalkWriter& walk, const AttentionComputed& computed) {
  const FeatureMap::Kind kind = computed.spec.score.feature_map.kind;
  if (computed.spec.score.kind != Kind::feature_map || kind == FeatureMap::Kind::positive_random) return;
  const AttentionInputs& p = computed.problem;
  const HeadMatrices& heads = computed.heads;
  const std::vector<std::string> columns = numbered_labels("d", p.q.dim(3));
  std::vector<LabelledMatrix> matrices = heads.of("phi(Q)", features(p.q, kind), heads.queries, columns);
  for (LabelledMatrix& matrix : heads.of("phi(K)", features(p.k, kind), heads.keys, columns)) {
    matrices.push_back(std::move(matrix));
  }
  walk.add("features", feature_formula(kind), std::move(matrices));
}

void add_raw_scores(WalkWriter& walk, const AttentionComputed& computed) {
  std::vector<LabelledMatrix> matrices = computed.heads.of_pairs("scores", computed.stages.scores);
  switch (computed.spec.score.kind) {
    case Kind::dot:
      walk.add("scores", "scores = Q K^T,   scores[i, j] = q_i . k_j = sum_d Q[i, d] K[j, d]", std::move(matrices),
               "dot");
      return;
    case Kind::additive: {
      const Tensor& v_a = computed.spec.score.additive_vector;
      matrices.insert(matrices.begin(), label_matrix("v_a", v_a.view(), {"v"}, numbered_labels("d", v_a.size())));
      walk.add("scores", "scores[i, j] = v_a . tanh(q_i + k_j)", std::move(matrices), "additive");
      return;
    }
    case Kind::cosine:
      walk.add("scores", "scores[i, j] = q_i . k_j / (|q_i| |k_j|)", std::move(matrices), "cosine");
      return;
    case Kind::squared_distance:
      walk.add("scores", "scores[i, j] = -|q_i - k_j|^2 = -sum_d (Q[i, d] - K[j, d])^2", std::move(matrices),
               "distance");
      return;
    case Kind::feature_map:
      walk.add("scores",
               fmt::format("scores[i, j] = phi(q_i) . phi(k_j),   {}",
                           feature_formula(computed.spec.score.feature_map.kind)),
               std::move(matrices), "features");
      if (computed.spec.normaliser.kind == Normal::sum) walk.say("scores.no_exponential");
      return;
  }
}

bool has_scaled_step(const Score& score) {
  return score.kind != Kind::additive && (score.kind != Kind::feature_map || score.scale);
}

// Whether something is added to scores; a cap is a step of its own.
bool has_bias(const AttentionSpec& spec) {
  Bias bias = spec.bias;
  bias.soft_cap.reset();
  return !bias.is_empty();
}

// The step whose scores the mask, or with `before_bias` the bias, is laid over.
const char* last_scores(const AttentionSpec& spec, bool before_bias) {
  if (has_bias(spec) && !before_bias) return "biased";
  if (spec.bias.soft_cap) return "capped";
  return has_scaled_step(spec.score) ? "scaled" : "scores";
}

void add_scaled(WalkWriter& walk, const AttentionComputed& computed) {
  const Score& score = computed.spec.score;
  if (!has_scaled_step(score)) return;
  std::vector<LabelledMatrix> matrices = computed.heads.of_pairs("scaled", computed.stages.scaled);
  const Index width = computed.problem.q.dim(3);
  const double root = std::sqrt(static_cast<double>(width));
  if (score.scale) {
    walk.add("scaled",
             score.kind == Kind::dot || score.kind == Kind::squared_distance
                 ? fmt::format("scaled = scores * {:.6g}   (1 / sqrt(d_k) = {:.6g})", *score.scale, 1 / root)
                 : fmt::format("scaled = scores * {:.6g}", *score.scale),
             std::move(matrices), "given");
  } else if (score.kind == Kind::cosine) {
    walk.add("scaled", "scaled = scores * 1", std::move(matrices), "given");
  } else {
    walk.add("scaled", fmt::format("scaled = scores / sqrt(d_k) = scores / sqrt({}) = scores / {:.6g}", width, root),
             std::move(matrices), score.kind == Kind::squared_distance ? "distance" : "root");
  }
}

void add_biases(WalkWriter& walk, const AttentionComputed& computed) {
  const Bias& bias = computed.spec.bias;
  if (bias.soft_cap) {
    walk.add("capped",
             fmt::format("capped = {0:.6g} tanh({1} / {0:.6g})", *bias.soft_cap,
                         has_scaled_step(computed.spec.score) ? "scaled" : "scores"),
             computed.heads.of_pairs("capped", computed.stages.capped));
  }
  if (!has_bias(computed.spec)) return;
  const Tensor biased = computed.stages.capped.clone();
  for (Index i = 0; i < biased.size(); ++i) biased.data<double>()[i] += computed.stages.bias.data<double>()[i];
  std::vector<LabelledMatrix> matrices = computed.heads.of_pairs("bias", computed.stages.bias);
  for (LabelledMatrix& matrix : computed.heads.of_pairs("biased", biased)) matrices.push_back(std::move(matrix));
  walk.add("biased", fmt::format("biased[i, j] = {}[i, j] + bias[i, j]", last_scores(computed.spec, true)),
           std::move(matrices));
}

void add_masked(WalkWriter& walk, const AttentionComputed& computed) {
  const AttentionInputs& p = computed.problem;
  std::vector<LabelledMatrix> matrices = computed.heads.of_pairs("masked", computed.stages.masked);
  const char* last = last_scores(computed.spec, false);
  if (computed.spec.mask.is_open()) {
    walk.add("masked", fmt::format("masked = {}", last), std::move(matrices), "none");
    return;
  }
  const bool given = !p.allowed.is_empty();
  const bool patterns = computed.spec.mask.patterns.size() > (given ? 1u : 0u);
  const bool windows = computed.spec.mask.window && (!p.causal || computed.spec.mask.window->left);
  const bool several = p.causal && given;
  const char* which = patterns || windows || several ? "chosen" : p.causal ? "causal" : "given";
  walk.add("masked", fmt::format("masked[i, j] = {}[i, j] where allowed(i, j), else -inf", last), std::move(matrices),
           which);
  if (p.causal && p.q.dim(2) != p.k.dim(2)) walk.say("masked.last");
  walk.say("masked.zero");
}

// --- Weights ---------------------------------------------------------------------------------------------------------

bool any_row_stat(const AttentionStages& stages, bool (*is)(double)) {
  const double* stat = stages.row_stat.data<double>();
  return std::any_of(stat, stat + stages.row_stat.size(), is);
}

bool refused_whole(double stat) { return std::isinf(stat) && stat < 0; }

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

void add_exponentials(WalkWriter& walk, const AttentionComputed& computed) {
  const auto beyond_pencil = [](double stat) {  // a row without keys has a sum of 0, easily written; NaN is not
    return !refused_whole(stat) && !(stat >= kLeastLogSum && stat <= kLargestLogSum);
  };
  if (any_row_stat(computed.stages, beyond_pencil)) return;
  std::vector<std::string> columns = computed.heads.keys;
  columns.push_back("sum");
  walk.add("exponentials", "exponentials[i, j] = e^masked[i, j],   sum[i] = sum_j exponentials[i, j]",
           computed.heads.of("exponentials", exponentials_with_sum(computed.stages), computed.heads.queries, columns));
}

// What the normaliser knows of a row, as a step of its own.
void add_row_statistic(WalkWriter& walk, const AttentionComputed& computed, const char* step, const char* column,
                       std::string formula) {
  const Tensor& stat = computed.stages.row_stat;
  walk.add(step, std::move(formula),
           computed.heads.of(column, stat.reshape({stat.dim(0), stat.dim(1), stat.dim(2), 1}), computed.heads.queries,
                             {column}));
}

// Says of the weights' rows what is true of them.
void say_sums(WalkWriter& walk, const AttentionComputed& computed) {
  const AttentionStages& stages = computed.stages;
  const View w = stages.weights.view();
  Index ones = 0, spoilt = 0, empty = 0;
  const Index rows = w.shape[0] * w.shape[1] * w.shape[2], keys = w.shape[3];
  const double *weights = stages.weights.data<double>(), *stat = stages.row_stat.data<double>();
  for (Index row = 0; row < rows; ++row) {
    double sum = 0;
    for (Index j = 0; j < keys; ++j) sum += weights[row * keys + j];
    ones += std::abs(sum - 1) < 1e-9 ? 1 : 0;
    spoilt += std::isnan(sum) ? 1 : 0;
    empty += refused_whole(stat[row]) ? 1 : 0;
  }
  if (ones == rows) walk.say("weights.ones");
  if (ones > 0 && ones + spoilt + empty == rows && ones < rows) walk.say("weights.others_ones");
  if (empty > 0) walk.say("weights.empty");
  if (spoilt > 0) walk.say("weights.spoilt");
  const bool shares = computed.spec.normaliser.kind == Normal::sum;
  if (shares && std::count(stat, stat + rows, 0.0) > 0) walk.say("weights.nothing_to_share");
}

}  // namespace

void add_scores(WalkWriter& walk, const AttentionComputed& computed) {
  add_features(walk, computed);
  add_raw_scores(walk, computed);
  add_scaled(walk, computed);
  add_biases(walk, computed);
  add_masked(walk, computed);
}

void add_weights(WalkWriter& walk, const AttentionComputed& computed) {
  const char *which = "softmax", *formula = "weights[i, j] = e^masked[i, j] / sum_j' e^masked[i, j']";
  switch (computed.spec.normaliser.kind) {
    case Normal::softmax:
      add_exponentials(walk, computed);
      break;
    case Normal::sigmoid:
      which = "sigmoid", formula = "weights[i, j] = 1 / (1 + e^-masked[i, j])";
      break;
    case Normal::sparsemax:
      add_row_statistic(walk, computed, "threshold", "tau", "sum_j max(masked[i, j] - tau[i], 0) = 1");
      which = "sparsemax", formula = "weights[i, j] = max(masked[i, j] - tau[i], 0)";
      break;
    case Normal::entmax15:
      add_row_statistic(walk, computed, "threshold", "tau", "sum_j max(masked[i, j] / 2 - tau[i], 0)^2 = 1");
      which = "entmax15", formula = "weights[i, j] = max(masked[i, j] / 2 - tau[i], 0)^2";
      break;
    case Normal::sum:
      add_row_statistic(walk, computed, "sums", "sum", "sum[i] = sum_j masked[i, j]   (-inf: 0)");
      which = "sum", formula = "weights[i, j] = masked[i, j] / sum[i]   (-inf: 0)";
      break;
  }
  walk.add("weights", formula, computed.heads.of_pairs("weights", computed.stages.weights), which);
  say_sums(walk, computed);
}

}  // namespace heed
