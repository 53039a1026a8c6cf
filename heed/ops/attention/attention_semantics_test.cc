// The decided semantics, each as a test on every plan and every kind of score and normaliser that it makes sense for.
#include <gtest/gtest.h>

#include <cmath>

#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/plans/reference.h"
#include "heed/ops/attention/problem/dropout_mask.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/not_finite.h"

namespace heed {
namespace {

using testing::attention_kinds;
using testing::AttentionAnswer;
using testing::AttentionSample;
using testing::kInfinity;
using testing::kNaN;
using testing::kRowAnswers;
using testing::largest_difference;
using testing::plans_for;
using testing::random_booleans;
using testing::random_tensor;
using testing::same_bits;
using testing::solve;

void expect_zero(const ConstView& view, const char* what) {
  EXPECT_EQ(largest_difference(view, Tensor::zeros_like(view)), 0) << what;
}

TEST(AttentionSemantics, ARowWithNoAllowedKeyIsZeroWithStatMinusInfinityAndZeroGradient) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{0, 4}, {2});
  for (AttentionSample p : attention_kinds({.batch = 2, .heads = 2, .key_heads = 2, .queries = 3, .keys = 5})) {
    p.spec.mask = Mask::key_lengths(lengths);
    p.spec.dropout = {.probability = 0.5, .seed = 1, .stream = 2};
    p.drow_stat = random_tensor(DType::f32, {2, 2, 3}, 9);
    for (const AttentionPlan* plan : plans_for(p)) {
      SCOPED_TRACE(std::string(plan->name) + ": " + describe(p));
      const AttentionAnswer a = solve(*plan, p);
      expect_zero(a.out.rows(0, 1), "out"), expect_zero(a.weights.rows(0, 1), "weights");
      expect_zero(a.recovered.rows(0, 1), "recovered");
      expect_zero(a.dq.rows(0, 1), "dq"), expect_zero(a.dk.rows(0, 1), "dk"), expect_zero(a.dv.rows(0, 1), "dv");
      for (Index h = 0; h < 2; ++h)
        for (Index i = 0; i < 3; ++i) {
          EXPECT_EQ(a.row_stat.at<float>({0, h, i}), -kInfinity);
          EXPECT_TRUE(std::isfinite(a.row_stat.at<float>({1, h, i})));
        }
    }
  }
}

TEST(AttentionSemantics, NoKeysAtAllIsADeadRowEverywhere) {
  for (const AttentionSample& p : attention_kinds({.heads = 2, .queries = 3, .keys = 0})) {
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer a = solve(*plan, p);
      expect_zero(a.out, "out"), expect_zero(a.dq, "dq");
      for (Index i = 0; i < a.row_stat.size(); ++i) EXPECT_EQ(a.row_stat.data<float>()[i], -kInfinity);
    }
  }
}

TEST(AttentionSemantics, ACallWithoutKeysOrWithoutQueriesIsACall) {
  Workspace workspace;
  for (auto [queries, keys] : {std::pair<Index, Index>{3, 0}, {0, 5}, {0, 0}}) {
    for (const AttentionSample& p : attention_kinds({.heads = 2, .queries = queries, .keys = keys})) {
      const Tensor out = Tensor::zeros_like(p.dout), stat = Tensor::zeros(DType::f32, {1, 2, queries});
      attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = stat}, workspace);
      const Tensor dq = random_tensor(DType::f32, {1, 2, queries, 8}, 1),
                   dk = random_tensor(DType::f32, {1, 1, keys, 8}, 2), dv = dk.clone();
      attention_backward(p.q, p.k, p.v, p.spec, {.out = out.view(), .row_stat = stat.view(), .dout = p.dout.view()},
                         {.dq = dq, .dk = dk, .dv = dv}, workspace);
      expect_zero(dq, "dq"), expect_zero(dk, "dk"), expect_zero(dv, "dv");
    }
  }
}

TEST(AttentionSemantics, ABiasOfMinusInfinityIsAMask) {
  const Tensor bias = Tensor::zeros(DType::f32, {1, 1, 4, 9}), allowed = Tensor::zeros(DType::boolean, {1, 1, 4, 9});
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 9; ++j) {
      const bool open = i != 2 && (i + j) % 3 != 0;  // row 2 is dead
      bias.at<float>({0, 0, i, j}) = open ? 0 : -kInfinity;
      allowed.at<std::uint8_t>({0, 0, i, j}) = open;
    }
  for (AttentionSample p : attention_kinds({.queries = 4, .keys = 9})) {
    AttentionSample masked = p;
    p.dense = bias, p.bind();
    masked.spec.mask = Mask::boolean(allowed);
    for (const AttentionPlan* plan : plans_for(p)) {
      if (!plan->refusal(make_attention_problem("test", masked.q, masked.k, masked.v, masked.spec)).empty()) continue;
      const AttentionAnswer a = solve(*plan, p), b = solve(*plan, masked);
      for (auto part : kRowAnswers) EXPECT_TRUE(same_bits(a.*part, b.*part)) << plan->name << ": " << describe(p);
    }
  }
}

TEST(AttentionSemantics, NaNInAQueryPropagatesToItsRowAlone) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{35}, {1});
  for (AttentionSample p : attention_kinds({.queries = 3, .keys = 40})) {
    p.q.at<float>({0, 0, 1, 2}) = kNaN;
    p.spec.mask = Mask::key_lengths(lengths);
    const bool relu = p.spec.score.kind == Score::Kind::feature_map &&
                      p.spec.score.feature_map.kind == FeatureMap::Kind::relu;  // its own gradient is 0 below zero
    for (const AttentionPlan* plan : plans_for(p)) {
      SCOPED_TRACE(std::string(plan->name) + ": " + describe(p));
      const AttentionAnswer a = solve(*plan, p);
      if (p.spec.normaliser.kind != Normaliser::Kind::sigmoid) {
        EXPECT_TRUE(std::isnan(a.row_stat.at<float>({0, 0, 1})));
      }
      for (Index j = 0; j < 40; ++j) {
        for (const Tensor& weights : {a.weights, a.recovered}) {
          const float weight = weights.at<float>({0, 0, 1, j});
          EXPECT_TRUE(j < 35 ? std::isnan(weight) : weight == 0) << j;
        }
      }
      for (Index d = 0; d < 8; ++d) {
        EXPECT_TRUE(std::isnan(a.out.at<float>({0, 0, 1, d})));
        EXPECT_TRUE(relu || std::isnan(a.dq.at<float>({0, 0, 1, d})));
        for (Index other : {0, 2}) {
          EXPECT_TRUE(std::isfinite(a.out.at<float>({0, 0, other, d})));
          EXPECT_TRUE(std::isfinite(a.dq.at<float>({0, 0, other, d})));
        }
      }
    }
  }
}

TEST(AttentionSemantics, NaNInAnAllowedValuePropagates) {
  for (AttentionSample p : attention_kinds({.queries = 3, .keys = 5})) {
    p.v.at<float>({0, 0, 4, 1}) = kNaN;
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer a = solve(*plan, p);
      for (Index i = 0; i < 3; ++i) {
        EXPECT_TRUE(std::isnan(a.out.at<float>({0, 0, i, 1}))) << plan->name << ": " << describe(p);
        EXPECT_TRUE(std::isfinite(a.out.at<float>({0, 0, i, 0}))) << plan->name << ": " << describe(p);
      }
    }
  }
}

// What lies behind the mask, garbage or NaN, changes nothing.
TEST(AttentionSemantics, WhatTheMaskRefusesDoesNotCountBeItNaN) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{6, 3}, {2}),
               allowed = random_booleans({1, 1, 1, 21}, 5);
  for (Index j = 6; j < 21; ++j) allowed.at<std::uint8_t>({0, 0, 0, j}) = 0;
  Mask blocks = Mask::predicate([](Index, Index, Index, Index j) { return j < 6; });
  for (AttentionSample p : attention_kinds({.batch = 2, .heads = 2, .queries = 6, .keys = 21})) {
    AttentionSample spoilt = p;
    spoilt.k = p.k.clone(), spoilt.v = p.v.clone();
    const float garbage[] = {kNaN, kInfinity, -kInfinity, 1e30f};
    for (Index b = 0; b < 2; ++b)
      for (Index j = 6; j < 21; ++j)
        for (Index d = 0; d < 8; ++d) {
          spoilt.k.at<float>({b, 0, j, d}) = garbage[(j + d) % 4];
          spoilt.v.at<float>({b, 0, j, d}) = garbage[(j + d + 1) % 4];
        }
    for (const Mask& mask : {Mask::causal(Anchor::start), Mask::boolean(allowed), Mask::key_lengths(lengths), blocks}) {
      p.spec.mask = spoilt.spec.mask = mask;
      for (const AttentionPlan* plan : plans_for(p)) {
        const AttentionAnswer a = solve(*plan, p), b = solve(*plan, spoilt);
        for (auto part : kRowAnswers) {
          EXPECT_LE(largest_difference(b.*part, a.*part), 4e-6) << plan->name << ": " << describe(p);
        }
      }
    }
  }
}

TEST(AttentionSemantics, AFutureKeyChangesNothingUnderACausalMask) {
  for (Anchor anchor : {Anchor::start, Anchor::end}) {
    for (AttentionSample p : attention_kinds({.heads = 2, .key_heads = 2, .queries = 5, .keys = 9})) {
      p.spec.mask = Mask::causal(anchor);
      AttentionSample changed = p;
      changed.k = p.k.clone(), changed.v = p.v.clone();
      const Index row = 2, first_future = row + (anchor == Anchor::end ? 9 - 5 : 0) + 1;
      for (Index h = 0; h < 2; ++h)
        for (Index j = first_future; j < 9; ++j) {
          changed.k.at<float>({0, h, j, 0}) += 1, changed.v.at<float>({0, h, j, 1}) += 5;
        }
      for (const AttentionPlan* plan : plans_for(p)) {
        const AttentionAnswer a = solve(*plan, p), b = solve(*plan, changed);
        EXPECT_TRUE(same_bits(slice(a.out, 2, 0, row + 1), slice(b.out, 2, 0, row + 1)))
            << plan->name << ": " << describe(p);
        EXPECT_FALSE(same_bits(a.out, b.out)) << plan->name << ": " << describe(p);
      }
    }
  }
}

// Causal under each anchor, as the booleans that the anchor's definition gives.
TEST(AttentionSemantics, TheAnchorSaysWhereTheLastQueryStands) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{6, 3}, {2});
  for (Anchor anchor : {Anchor::start, Anchor::end, Anchor::length}) {
    const Tensor allowed = Tensor::zeros(DType::boolean, {2, 1, 4, 9});
    for (Index b = 0; b < 2; ++b)
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 9; ++j) {
          const Index length = lengths.at<std::int64_t>({b});
          const Index last = anchor == Anchor::start ? i : i + (anchor == Anchor::end ? 9 : length) - 4;
          allowed.at<std::uint8_t>({b, 0, i, j}) = j <= last && j < length;
        }
    for (AttentionSample p : attention_kinds({.batch = 2, .queries = 4, .keys = 9})) {
      AttentionSample dense = p;
      p.spec.mask = Mask::causal(anchor) & Mask::key_lengths(lengths);
      dense.spec.mask = Mask::boolean(allowed);
      const AttentionAnswer truth = solve(kReferencePlan, dense);
      for (const AttentionPlan* plan : plans_for(p)) {
        const AttentionAnswer a = solve(*plan, p);
        for (auto part : kRowAnswers) {
          EXPECT_LE(largest_difference(a.*part, truth.*part), 1e-5) << plan->name << ": " << describe(p);
        }
      }
    }
  }
}

TEST(AttentionSemantics, CausalWindowPaddingAndDenseMasksIntersectAndTrueMeansAttend) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{6, 8}, {2}), open = random_booleans({2, 1, 7, 9}, 11);
  for (AttentionSample p : attention_kinds({.batch = 2, .heads = 2, .key_heads = 2, .queries = 7, .keys = 9})) {
    p.spec.mask = Mask::sliding_window(3, 0, Anchor::end) & Mask::key_lengths(lengths) & Mask::boolean(open);
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer a = solve(*plan, p);
      for (Index b = 0; b < 2; ++b)
        for (Index h = 0; h < 2; ++h)
          for (Index i = 0; i < 7; ++i)
            for (Index j = 0; j < 9; ++j) {
              const Index position = i + 2;
              const bool allowed = j <= position && position - j <= 3 && j < lengths.at<std::int64_t>({b}) &&
                                   open.at<std::uint8_t>({b, 0, i, j}) != 0;
              const float weight = a.weights.at<float>({b, h, i, j});
              EXPECT_TRUE(allowed ? weight > 0 || !has_positive_weights(p) : weight == 0)
                  << plan->name << ": " << describe(p);
            }
    }
  }
}

// score x scale -> cap -> + bias -> mask, each stage from the one before by its formula.
TEST(AttentionSemantics, StagesOfTheScoreComeInTheirOrder) {
  for (AttentionSample p : attention_kinds({.queries = 4, .keys = 20})) {
    p.spec.bias.soft_cap = 1.5;
    p.dense = random_tensor(DType::f32, {1, 1, 4, 20}, 3, 2);
    if (p.spec.normaliser.kind == Normaliser::Kind::sum) p.dense = Tensor::zeros_like(p.dense);
    p.spec.mask = Mask::causal(Anchor::start);
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      p.stage = ScoreStage::raw;
      const AttentionAnswer raw = solve(*plan, p);
      p.stage = ScoreStage::capped;
      const AttentionAnswer capped = solve(*plan, p);
      p.stage = ScoreStage::masked;
      const AttentionAnswer masked = solve(*plan, p);
      EXPECT_TRUE(same_bits(raw.out, masked.out)) << plan->name;
      for (Index i = 0; i < 4; ++i) {
        double sum = 0;
        for (Index j = 0; j < 20; ++j) {
          const float bent = capped.scores.at<float>({0, 0, i, j}), seen = masked.scores.at<float>({0, 0, i, j});
          EXPECT_NEAR(bent, 1.5 * std::tanh(double{raw.scores.at<float>({0, 0, i, j})} / 1.5), 1e-6) << plan->name;
          if (j > i) {
            EXPECT_EQ(seen, -kInfinity) << plan->name;
          } else {
            EXPECT_NEAR(seen, double{bent} + p.dense.at<float>({0, 0, i, j}), 1e-6) << plan->name;
          }
          sum += j <= i ? std::exp(double{seen}) : 0;
        }
        if (p.spec.normaliser.kind != Normaliser::Kind::softmax || !p.sinks.is_empty()) continue;
        EXPECT_NEAR(masked.row_stat.at<float>({0, 0, i}), std::log(sum), 1e-6) << plan->name;
      }
    }
  }
}

// Normalise, then drop, then multiply: the weights that are returned are before dropout, and sum to one.
TEST(AttentionSemantics, WeightsAreBeforeDropoutAndMultiplyTheValuesToTheOutput) {
  for (AttentionSample p :
       attention_kinds({.batch = 2, .heads = 4, .key_heads = 2, .queries = 6, .keys = 30, .value_width = 12})) {
    p.spec.mask = Mask::causal();
    p.spec.dropout = {.probability = 0.3, .seed = 8, .stream = 1};
    const DropoutMask drop(p.spec.dropout);
    for (const AttentionPlan* plan : plans_for(p)) {
      SCOPED_TRACE(std::string(plan->name) + ": " + describe(p));
      const AttentionAnswer a = solve(*plan, p);
      for (Index b = 0; b < 2; ++b)
        for (Index h = 0; h < 4; ++h)
          for (Index i = 0; i < 6; ++i) {
            double sum = 0;
            for (Index j = 0; j < 30; ++j) sum += a.weights.at<float>({b, h, i, j});
            if (has_weights_that_sum_to_one(p)) {
              EXPECT_NEAR(sum, 1, 1e-6);
            }
            for (Index d = 0; d < 12; ++d) {
              double out = 0;
              for (Index j = 0; j < 30; ++j) {
                if (!drop.row(b, h, i).keeps(j)) continue;
                out += drop.scale() * a.weights.at<float>({b, h, i, j}) * p.v.at<float>({b, h / 2, j, d});
              }
              EXPECT_NEAR(a.out.at<float>({b, h, i, d}), out, 1e-6 * std::max(1.0, sum));
            }
          }
    }
  }
}

TEST(AttentionSemantics, AScoreFarFromZeroDoesNotOverflow) {
  for (AttentionSample p : attention_kinds({.queries = 2, .keys = 20})) {
    if (p.spec.normaliser.kind != Normaliser::Kind::softmax || !p.sinks.is_empty()) continue;
    p.dense = Tensor::zeros(DType::f32, {1, 1, 2, 20});
    for (Index j = 0; j < 20; ++j) {
      p.dense.at<float>({0, 0, 0, j}) = 1e4f;
      p.dense.at<float>({0, 0, 1, j}) = j == 3 ? -1e4f : -2e4f;
    }
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer a = solve(*plan, p);
      for (Index i = 0; i < a.out.size(); ++i) EXPECT_TRUE(std::isfinite(a.out.data<float>()[i])) << plan->name;
      EXPECT_EQ(a.weights.at<float>({0, 0, 1, 3}), 1.0f);
    }
  }
}

// Attention sinks: one more logit that takes weight and gives no value, as a further key whose score is the sink and
// whose value is zero.
TEST(AttentionSemantics, ASinkIsAKeyWithoutAValue) {
  AttentionSample p = testing::plain_problem({.heads = 2, .key_heads = 2, .queries = 3, .keys = 7});
  p.sinks = random_tensor(DType::f32, {2}, 6), p.bind();
  AttentionSample longer = testing::plain_problem({.heads = 2, .key_heads = 2, .queries = 3, .keys = 8});
  copy(p.q, longer.q), copy(p.k, slice(longer.k.view(), 2, 0, 7)), copy(p.v, slice(longer.v.view(), 2, 0, 7));
  fill(slice(longer.k.view(), 2, 7, 8), 0), fill(slice(longer.v.view(), 2, 7, 8), 0);
  longer.dense = Tensor::zeros(DType::f32, {1, 2, 1, 8});
  for (Index h = 0; h < 2; ++h) longer.dense.at<float>({0, h, 0, 7}) = p.sinks.at<float>({h});
  longer.bind();
  const AttentionAnswer truth = solve(kReferencePlan, longer);
  for (const AttentionPlan* plan : plans_for(p)) {
    const AttentionAnswer a = solve(*plan, p);
    EXPECT_LE(largest_difference(a.out, truth.out), 1e-6) << plan->name;
    EXPECT_LE(largest_difference(a.row_stat, truth.row_stat), 1e-6) << plan->name;
    EXPECT_LE(largest_difference(a.weights, slice(truth.weights.view(), 3, 0, 7)), 1e-6) << plan->name;
    for (Index h = 0; h < 2; ++h) {
      EXPECT_NEAR(a.dsinks.at<float>({h}), truth.dbias.at<float>({0, h, 0, 7}), 1e-5) << plan->name;
    }
  }
}

}  // namespace
}  // namespace heed
