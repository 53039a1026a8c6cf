// The gradients of the definition against finite differences in double: of every input and parameter, through every
// score, feature map, normaliser, bias and mask, with a loss that may hold row_stat too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::attention_kinds;
using testing::AttentionSample;
using testing::gradient_error;
using testing::plain_problem;
using testing::random_tensor;
using testing::weighted_sum;

constexpr testing::AttentionShape kGradientShape{
    .batch = 2, .heads = 4, .key_heads = 2, .queries = 3, .keys = 5, .width = 4, .value_width = 3};

// A row without keys has the statistic -inf, which no loss can hold.
double finite_sum(const Tensor& stat, const Tensor& weights) {
  const Tensor held = stat.clone();
  for (Index i = 0; i < held.size(); ++i) {
    double& x = held.data<double>()[i];
    if (std::isinf(x)) x = 0;
  }
  return weighted_sum(held, weights);
}

// Weights for row_stat in the loss. A `sum` may be in the thousands, and would bury the differences of the rest in its
// rounding: they are scaled to its size.
Tensor weights_of_stat(AttentionSample p) {
  p.bind();
  const Tensor stat = Tensor::zeros(DType::f64, {p.q.dim(0), p.q.dim(1), p.q.dim(2)});
  Workspace workspace;
  attention(p.q, p.k, p.v, p.spec, {.row_stat = stat}, workspace);
  double largest = 1;
  for (Index i = 0; i < stat.size(); ++i) {
    const double x = std::abs(stat.data<double>()[i]);
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return random_tensor(DType::f64, {stat.dim(0), stat.dim(1), stat.dim(2)}, 9, 4 / largest);
}

// Holds every gradient of sum(out * dout) + sum(row_stat * drow_stat) against differences.
void expect_gradients(AttentionSample p) {
  p.bind();
  SCOPED_TRACE(describe(p));
  Workspace workspace;
  const Tensor out = Tensor::zeros_like(p.dout);
  const Tensor stat = Tensor::zeros(DType::f64, {p.q.dim(0), p.q.dim(1), p.q.dim(2)});
  const auto loss = [&] {
    attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = stat}, workspace);
    return weighted_sum(out, p.dout) + (p.drow_stat.is_empty() ? 0 : finite_sum(stat, p.drow_stat));
  };
  loss();
  const auto zeros = [](const Tensor& like) { return like.is_empty() ? Tensor() : Tensor::zeros_like(like); };
  const Tensor dq = zeros(p.q), dk = zeros(p.k), dv = zeros(p.v), dbias = zeros(p.dense), dvector = zeros(p.vector),
               dsinks = zeros(p.sinks), drelative = zeros(p.relative), dcentre = zeros(p.centre);
  attention_backward(
      p.q, p.k, p.v, p.spec,
      {.out = out.view(), .row_stat = stat.view(), .dout = p.dout.view(), .drow_stat = p.drow_stat.view()},
      {.dq = dq,
       .dk = dk,
       .dv = dv,
       .dbias = dbias,
       .dadditive_vector = dvector,
       .dsinks = dsinks,
       .drelative = drelative,
       .dcentre = dcentre},
      workspace);
  const struct {
    const char* name;
    const Tensor &of, &gradient;
  } parts[] = {{"dq", p.q, dq},
               {"dk", p.k, dk},
               {"dv", p.v, dv},
               {"dbias", p.dense, dbias},
               {"dvector", p.vector, dvector},
               {"dsinks", p.sinks, dsinks},
               {"drelative", p.relative, drelative},
               {"dcentre", p.centre, dcentre}};
  for (const auto& part : parts) {
    if (!part.of.is_empty()) {
      EXPECT_LT(gradient_error(loss, part.of, part.gradient), 1e-7) << part.name;
    }
  }
}

// Each kind in f64, of numbers whose roundings cross no kink. Random features and sums of relu need no further scale.
std::vector<AttentionSample> kinds() { return attention_kinds(kGradientShape, DType::f64); }

bool takes_any_bias(const AttentionSample& p) { return p.spec.normaliser.kind != Normaliser::Kind::sum; }

TEST(AttentionGradient, OfEveryScoreAndNormaliser) {
  for (const AttentionSample& p : kinds()) expect_gradients(p);
}

TEST(AttentionGradient, OfALossThatHoldsRowStat) {
  for (AttentionSample p : kinds()) {
    p.drow_stat = weights_of_stat(p);
    expect_gradients(p);
  }
}

TEST(AttentionGradient, OfAScaledScore) {
  AttentionSample p = plain_problem(kGradientShape, DType::f64);
  for (double scale : {0.3, 1.0, -0.7, 0.0}) {
    for (auto kind : {Score::Kind::dot, Score::Kind::squared_distance, Score::Kind::cosine}) {
      p.spec.score = {.kind = kind, .scale = scale};
      expect_gradients(p);
    }
  }
  p.spec.score = Score::features({}, 0.4);
  expect_gradients(p);
  p.spec.score = Score::features({.kind = FeatureMap::Kind::positive_random}, 0.2);
  p.projection = random_tensor(DType::f64, {7, 4}, 8);
  for (auto normaliser : {Normaliser::sum(), Normaliser::softmax()}) {
    p.spec.normaliser = normaliser;
    expect_gradients(p);
  }
}

TEST(AttentionGradient, OfASoftCap) {
  for (AttentionSample p : kinds()) {
    p.spec.bias.soft_cap = 1.2;
    expect_gradients(p);
  }
}

TEST(AttentionGradient, OfABiasBroadcastAlongEachAxis) {
  for (int broadcast = 0; broadcast < 16; ++broadcast) {
    const auto axis = [&](int bit, Index extent) { return (broadcast >> bit & 1) != 0 ? Index{1} : extent; };
    for (AttentionSample p : kinds()) {
      if (broadcast % 5 != 0 && p.spec.score.kind != Score::Kind::dot) continue;
      p.dense = random_tensor(DType::f64, {axis(0, 2), axis(1, 4), axis(2, 3), axis(3, 5)}, 6);
      if (!takes_any_bias(p)) {
        for (Index i = 0; i < p.dense.size(); ++i) p.dense.data<double>()[i] = std::abs(p.dense.data<double>()[i]);
      }
      if (broadcast % 2 != 0) p.spec.bias.soft_cap = 2;
      expect_gradients(p);
    }
  }
}

TEST(AttentionGradient, OfABiasThatRefusesKeys) {
  for (AttentionSample p : kinds()) {
    p.dense = Tensor::zeros(DType::f64, {1, 1, 3, 5});
    for (Index j = 0; j < 5; ++j) {
      if (j != 2) p.dense.at<double>({0, 0, 1, j}) = -HUGE_VAL;
    }
    fill(slice(p.dense.view(), 2, 2, 3), -HUGE_VAL);
    p.bind();
    Workspace workspace;
    // Differences of an infinite bias mean nothing: only the inputs'.
    const Tensor out = Tensor::zeros_like(p.dout), stat = Tensor::zeros(DType::f64, {2, 4, 3});
    const auto loss = [&] {
      attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = stat}, workspace);
      return weighted_sum(out, p.dout);
    };
    loss();
    const Tensor dq = Tensor::zeros_like(p.q), dk = Tensor::zeros_like(p.k), dbias = Tensor::zeros_like(p.dense);
    attention_backward(p.q, p.k, p.v, p.spec, {.out = out.view(), .row_stat = stat.view(), .dout = p.dout.view()},
                       {.dq = dq, .dk = dk, .dbias = dbias}, workspace);
    EXPECT_LT(gradient_error(loss, p.q, dq), 1e-7) << describe(p);
    EXPECT_LT(gradient_error(loss, p.k, dk), 1e-7) << describe(p);
    for (Index i = 1; i < 3; ++i)
      for (Index j = 0; j < 5; ++j) {
        if (i != 1 || j != 2) {
          EXPECT_EQ(dbias.at<double>({0, 0, i, j}), 0);
        }
      }
  }
}

TEST(AttentionGradient, OfRelativePositions) {
  for (bool bidirectional : {true, false})
    for (AttentionSample p : kinds()) {
      if (!takes_any_bias(p)) continue;
      p.relative = random_tensor(DType::f64, {4, 4}, 7);
      p.spec.bias.relative.bidirectional = bidirectional, p.spec.bias.relative.max_distance = 4;
      p.spec.mask.anchor = bidirectional ? Anchor::start : Anchor::end;
      expect_gradients(p);
    }
}

TEST(AttentionGradient, OfTheGaussiansCentre) {
  for (Index batch : {1, 2})
    for (Index heads : {1, 4})
      for (AttentionSample p : kinds()) {
        if (!takes_any_bias(p)) continue;
        p.centre = random_tensor(DType::f64, {batch, heads, 3}, 7, 2);
        p.spec.bias.gaussian.sigma = 1.5;
        expect_gradients(p);
      }
}

TEST(AttentionGradient, BesideAlibiAndTogether) {
  for (AttentionSample p : kinds()) {
    if (!takes_any_bias(p)) continue;
    p.alibi = Tensor::empty(DType::f64, {4});
    alibi_slopes(p.alibi);
    expect_gradients(p);
    p.relative = random_tensor(DType::f64, {8, 4}, 7);
    p.centre = random_tensor(DType::f64, {1, 4, 3}, 8, 2);
    p.spec.bias.gaussian.sigma = 2;
    p.dense = random_tensor(DType::f64, {1, 4, 1, 5}, 9);
    p.spec.bias.soft_cap = 3;
    p.drow_stat = weights_of_stat(p);
    p.spec.mask = Mask::causal();
    expect_gradients(p);
  }
}

TEST(AttentionGradient, OfMasks) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{3, 0}, {2});
  const Tensor allowed = testing::random_booleans({2, 1, 3, 5}, 3);
  for (const Mask& mask :
       {Mask::causal(), Mask::causal(Anchor::start), Mask::sliding_window(1, 1), Mask::key_lengths(lengths),
        Mask::boolean(allowed), Mask::causal() & Mask::key_lengths(lengths) & Mask::boolean(allowed),
        Mask::longformer({.radius = 1, .global = 1}), Mask::fixed({.block = 2, .summary = 1})}) {
    for (AttentionSample p : kinds()) {
      p.spec.mask = mask;
      p.drow_stat = weights_of_stat(p);
      expect_gradients(p);
    }
  }
}

TEST(AttentionGradient, OfDropout) {
  for (AttentionSample p : kinds()) {
    p.spec.mask = Mask::causal();
    p.spec.dropout = {.probability = 0.4, .seed = 3, .stream = 8};
    expect_gradients(p);
  }
}

}  // namespace
}  // namespace heed
