// Every plan against the definition on random problems, and the semantics that the documentation promises, each as a
// test on every plan.
#include "heed/ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/plan.h"
#include "heed/ops/attention/reference.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// One problem and its numbers.
struct Problem {
  Tensor q, k, v, dout, bias, vector, lengths, allowed;
  AttentionSpec spec;

  // Points the spec at the tensors.
  void bind() {
    if (!bias.is_empty()) spec.bias.dense = bias.view();
    if (!vector.is_empty()) spec.score.additive_vector = vector.view();
    if (!lengths.is_empty()) spec.mask.lengths = lengths.view();
    if (!allowed.is_empty()) spec.mask.patterns = Mask::boolean(allowed.view()).patterns;
  }
  Problem to(DType dtype) const {
    Problem other = *this;
    for (Tensor Problem::*member :
         {&Problem::q, &Problem::k, &Problem::v, &Problem::dout, &Problem::bias, &Problem::vector}) {
      if (!(this->*member).is_empty()) other.*member = (this->*member).to(dtype);
    }
    other.bind();
    return other;
  }
};

// Everything that a plan computes of it.
struct Answer {
  Tensor out, row_stat, weights, scores, dq, dk, dv, dbias, dvector;
};

constexpr Tensor Answer::*kAnswers[] = {&Answer::out, &Answer::row_stat, &Answer::weights, &Answer::scores, &Answer::dq,
                                        &Answer::dk,  &Answer::dv,       &Answer::dbias,   &Answer::dvector};
constexpr const char* kAnswerNames[] = {"out", "row_stat", "weights", "scores", "dq", "dk", "dv", "dbias", "dvector"};

Answer solve(const AttentionPlan& plan, const Problem& p) {
  const AttentionCase c = make_attention_case("test", p.q, p.k, p.v, p.spec);
  EXPECT_EQ(plan.refuse(c), "") << plan.name;
  Workspace workspace;
  Answer a;
  a.out = Tensor::empty(c.dtype, {c.batch, c.heads, c.queries, c.value_width});
  a.row_stat = Tensor::empty(c.dtype, {c.batch, c.heads, c.queries});
  a.weights = Tensor::empty(c.dtype, {c.batch, c.heads, c.queries, c.keys});
  a.scores = Tensor::empty(c.dtype, {c.batch, c.heads, c.queries, c.keys});
  for (Tensor* t : {&a.out, &a.row_stat, &a.weights, &a.scores}) fill(*t, 77);  // must be overwritten
  plan.forward(c, {.out = a.out, .row_stat = a.row_stat, .weights = a.weights, .scores = a.scores}, workspace);
  a.dq = Tensor::empty_like(p.q), a.dk = Tensor::empty_like(p.k), a.dv = Tensor::empty_like(p.v);
  for (Tensor* t : {&a.dq, &a.dk, &a.dv}) fill(*t, 77);
  AttentionGrad grad{.dq = a.dq, .dk = a.dk, .dv = a.dv};
  if (!p.bias.is_empty()) grad.dbias = a.dbias = Tensor::zeros_like(p.bias);
  if (!p.vector.is_empty()) grad.dadditive_vector = a.dvector = Tensor::zeros_like(p.vector);
  plan.backward(c, {a.out, a.row_stat, p.dout}, grad, workspace);
  return a;
}

// The plans that take the problem.
std::vector<const AttentionPlan*> plans_for(const Problem& p) {
  const AttentionCase c = make_attention_case("test", p.q, p.k, p.v, p.spec);
  std::vector<const AttentionPlan*> plans;
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.refuse(c).empty()) plans.push_back(&plan);
  }
  EXPECT_FALSE(plans.empty());
  return plans;
}

Problem make_problem(Index batch, Index heads, Index key_heads, Index queries, Index keys, Index width,
                     Index value_width, std::uint64_t seed, bool additive = false) {
  Problem p;
  p.q = random_tensor(DType::f32, {batch, heads, queries, width}, seed * 8 + 1);
  p.k = random_tensor(DType::f32, {batch, key_heads, keys, width}, seed * 8 + 2);
  p.v = random_tensor(DType::f32, {batch, key_heads, keys, value_width}, seed * 8 + 3);
  p.dout = random_tensor(DType::f32, {batch, heads, queries, value_width}, seed * 8 + 4);
  if (additive) {
    p.vector = random_tensor(DType::f32, {width}, seed * 8 + 5);
    p.spec.score.kind = Score::Kind::additive;
  }
  p.bind();
  return p;
}

// The two scores, of one shape: what every test of the semantics runs over.
std::vector<Problem> both_scores(Index batch, Index heads, Index key_heads, Index queries, Index keys, Index width = 8,
                                 Index value_width = 8) {
  return {make_problem(batch, heads, key_heads, queries, keys, width, value_width, 1),
          make_problem(batch, heads, key_heads, queries, keys, width, value_width, 2, true)};
}

Tensor booleans(std::initializer_list<Index> shape, std::uint64_t seed) {
  Tensor tensor = Tensor::zeros(DType::boolean, shape);
  Rng rng(seed);
  for (Index i = 0; i < tensor.size(); ++i) tensor.data<std::uint8_t>()[i] = rng.below(3) != 0;
  return tensor;
}

// A problem with a random choice of every feature.
Problem random_problem(std::uint64_t seed) {
  Rng rng(seed, 0xA77E);
  const auto pick = [&](std::initializer_list<Index> values) { return values.begin()[rng.below(std::ssize(values))]; };
  const auto maybe = [&](Index in) { return rng.below(in) == 0; };
  const Index batch = pick({1, 2}), key_heads = pick({1, 2}), heads = key_heads * pick({1, 2});
  const Index queries = pick({1, 2, 5, 14, 33, 70}), keys = pick({0, 1, 7, 14, 16, 31, 65, 90});
  const bool additive = maybe(3);
  Problem p = make_problem(batch, heads, key_heads, queries, keys, pick({1, 4, 8, 31, 32, 64}),
                           pick({1, 4, 17, 32, 64}), seed, additive);
  const auto axis = [&](Index extent) { return maybe(2) ? extent : 1; };
  if (maybe(3)) p.spec.bias.soft_cap = 2.0;
  if (maybe(3) && !additive) p.spec.score.scale = 0.7;
  if (maybe(2)) p.bias = random_tensor(DType::f32, {axis(batch), axis(heads), axis(queries), keys}, seed + 9000);
  if (maybe(2)) {
    p.spec.mask = Mask::sliding_window(maybe(2) ? std::optional<Index>{rng.below(40)} : std::nullopt,
                                       maybe(2) ? 0 : rng.below(9), maybe(2) ? Anchor::end : Anchor::start);
  }
  if (maybe(2)) {
    p.lengths = Tensor::zeros(DType::i32, {batch});
    for (Index b = 0; b < batch; ++b) p.lengths.at<std::int32_t>({b}) = static_cast<std::int32_t>(rng.below(keys + 1));
  }
  if (maybe(3)) p.allowed = booleans({axis(batch), axis(heads), axis(queries), keys}, seed + 9001);
  if (maybe(3)) p.spec.dropout = {.probability = 0.25, .seed = seed, .stream = 3};
  p.bind();
  return p;
}

double largest_magnitude(const Tensor& exact) {
  double largest = 0;
  for (Index i = 0; i < exact.size(); ++i) {
    const double x = std::abs(exact.data<double>()[i]);
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return largest;
}

// The largest |a - exact|; infinite where one is not finite and the other is something else.
double absolute_error(const Tensor& a, const Tensor& exact) {
  double worst = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const double x = a.dtype() == DType::f64 ? a.data<double>()[i] : double{a.data<float>()[i]},
                 y = exact.data<double>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::abs(x - y);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

// The largest |dout . v| of the problem: dS is a difference of two such numbers, which may cancel to nothing.
double largest_flow(const Problem& p) {
  double largest = 0;
  const Index group = p.q.dim(1) / p.k.dim(1);
  for (Index b = 0; b < p.q.dim(0); ++b)
    for (Index h = 0; h < p.q.dim(1); ++h)
      for (Index i = 0; i < p.q.dim(2); ++i)
        for (Index j = 0; j < p.k.dim(2); ++j) {
          double sum = 0;
          for (Index d = 0; d < p.v.dim(3); ++d) {
            sum += double{p.dout.at<float>({b, h, i, d})} * p.v.at<float>({b, h / group, j, d});
          }
          largest = std::max(largest, std::abs(sum));
        }
  return largest;
}

void compare_with_definition(std::uint64_t first_seed, std::uint64_t last_seed) {
  for (std::uint64_t seed = first_seed; seed < last_seed; ++seed) {
    const Problem p = random_problem(seed);
    const Answer exact = solve(kReferencePlan, p.to(DType::f64)), plain = solve(kPlainPlan, p);
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer answer = solve(*plan, p);
      for (std::size_t m = 0; m < std::size(kAnswers); ++m) {
        const Tensor &got = answer.*kAnswers[m], &truth = exact.*kAnswers[m];
        if (truth.is_empty()) continue;
        // The yardstick may be exact by luck: a few units in the last place of the largest terms are always granted.
        const bool through_softmax = m >= 4 && kAnswers[m] != &Answer::dv;
        const double terms = largest_magnitude(truth) + (through_softmax ? 4 * largest_flow(p) : 0);
        const double bound = 3 * absolute_error(plain.*kAnswers[m], truth) + 0x1p-21 * terms;
        EXPECT_LE(absolute_error(got, truth), bound)
            << plan->name << " " << kAnswerNames[m] << " seed " << seed << ": " << explain(p.q, p.k, p.v, p.spec);
      }
    }
  }
}

TEST(AttentionPlans, AreAsGoodAsPlainF32AgainstTheDefinitionInF64) { compare_with_definition(0, 200); }

TEST(AttentionPlans, AreAsGoodOnEverySimdTarget) {
  for (std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    compare_with_definition(200, 240);
  }
  force_simd_target(0);
}

TEST(AttentionPlans, AreOrderedWithTheReferenceLastAndNamedOnce) {
  std::vector<std::string_view> names;
  for (const AttentionPlan& plan : attention_plans()) {
    for (std::string_view name : names) EXPECT_NE(name, plan.name);
    names.push_back(plan.name);
  }
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back(), "reference");
}

void expect_rows_equal(const Tensor& tensor, Index b, Index h, Index i, float value, const char* what) {
  for (Index j = 0; j < tensor.dim(3); ++j) EXPECT_EQ(tensor.at<float>({b, h, i, j}), value) << what << " " << j;
}

TEST(AttentionSemantics, ARowWithNoAllowedKeyIsZeroWithStatMinusInfinityAndZeroGradient) {
  for (Problem p : both_scores(2, 2, 2, 3, 5)) {
    p.lengths = Tensor::from(std::vector<std::int32_t>{0, 4}, {2});
    p.spec.dropout = {.probability = 0.5, .seed = 1, .stream = 2};
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      for (Index h = 0; h < 2; ++h) {
        for (Index i = 0; i < 3; ++i) {
          expect_rows_equal(a.out, 0, h, i, 0, "out");
          expect_rows_equal(a.weights, 0, h, i, 0, "weights");
          expect_rows_equal(a.dq, 0, h, i, 0, "dq");
          EXPECT_EQ(a.row_stat.at<float>({0, h, i}), -kInfinity);
          EXPECT_TRUE(std::isfinite(a.row_stat.at<float>({1, h, i})));
        }
        for (Index j = 0; j < 5; ++j) {
          expect_rows_equal(a.dk, 0, h, j, 0, "dk");
          expect_rows_equal(a.dv, 0, h, j, 0, "dv");
        }
      }
    }
  }
}

TEST(AttentionSemantics, NoKeysAtAllIsADeadRowEverywhere) {
  for (const Problem& p : both_scores(1, 2, 1, 3, 0)) {
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      for (Index h = 0; h < 2; ++h)
        for (Index i = 0; i < 3; ++i) {
          expect_rows_equal(a.out, 0, h, i, 0, "out");
          expect_rows_equal(a.dq, 0, h, i, 0, "dq");
          EXPECT_EQ(a.row_stat.at<float>({0, h, i}), -kInfinity);
        }
    }
  }
}

TEST(AttentionSemantics, ABiasOfMinusInfinityIsAMask) {
  for (Problem p : both_scores(1, 1, 1, 4, 9)) {
    Problem masked = p;
    p.bias = Tensor::zeros(DType::f32, {1, 1, 4, 9});
    masked.allowed = Tensor::zeros(DType::boolean, {1, 1, 4, 9});
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 9; ++j) {
        const bool allowed = i != 2 && (i + j) % 3 != 0;  // row 2 is dead
        p.bias.at<float>({0, 0, i, j}) = allowed ? 0 : -kInfinity;
        masked.allowed.at<std::uint8_t>({0, 0, i, j}) = allowed;
      }
    p.bind(), masked.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p), b = solve(*plan, masked);
      for (auto member : {&Answer::out, &Answer::row_stat, &Answer::weights, &Answer::dq, &Answer::dk, &Answer::dv}) {
        EXPECT_TRUE(same_bits(a.*member, b.*member)) << plan->name;
      }
    }
  }
}

TEST(AttentionSemantics, NaNInAnInputPropagatesToItsRow) {
  for (Problem p : both_scores(1, 1, 1, 3, 40)) {
    p.q.at<float>({0, 0, 1, 2}) = kNaN;
    p.lengths = Tensor::from(std::vector<std::int64_t>{35}, {1});
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      EXPECT_TRUE(std::isnan(a.row_stat.at<float>({0, 0, 1}))) << plan->name;
      for (Index j = 0; j < 40; ++j) {
        const float weight = a.weights.at<float>({0, 0, 1, j});
        EXPECT_TRUE(j < 35 ? std::isnan(weight) : weight == 0) << plan->name << " " << j;
      }
      for (Index d = 0; d < 8; ++d) {
        EXPECT_TRUE(std::isnan(a.out.at<float>({0, 0, 1, d})));
        EXPECT_TRUE(std::isnan(a.dq.at<float>({0, 0, 1, d})));
        EXPECT_TRUE(std::isfinite(a.out.at<float>({0, 0, 0, d})));  // the rows beside it are well
        EXPECT_TRUE(std::isfinite(a.out.at<float>({0, 0, 2, d})));
      }
    }
  }
}

TEST(AttentionSemantics, NaNInAnAllowedValuePropagates) {
  for (Problem p : both_scores(1, 1, 1, 3, 5)) {
    p.v.at<float>({0, 0, 4, 1}) = kNaN;
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      for (Index i = 0; i < 3; ++i) {
        EXPECT_TRUE(std::isnan(a.out.at<float>({0, 0, i, 1}))) << plan->name;
        EXPECT_TRUE(std::isfinite(a.out.at<float>({0, 0, i, 0})));
      }
    }
  }
}

// What lies behind the mask, garbage or NaN, changes no bit of anything.
TEST(AttentionSemantics, WhatTheMaskRefusesDoesNotCountBeItNaN) {
  for (Problem p : both_scores(2, 2, 1, 6, 21)) {
    Problem causal = p, dense = p, padded = p;
    causal.spec.mask = Mask::causal(Anchor::start);  // keys 6.. are behind every row's future
    padded.lengths = Tensor::from(std::vector<std::int64_t>{6, 3}, {2});
    dense.allowed = booleans({1, 1, 1, 21}, 5);
    for (Index j = 6; j < 21; ++j) dense.allowed.at<std::uint8_t>({0, 0, 0, j}) = 0;
    for (Problem* masked : {&causal, &dense, &padded}) {
      masked->bind();
      Problem spoilt = *masked;
      spoilt.k = p.k.clone(), spoilt.v = p.v.clone();
      const float garbage[] = {kNaN, kInfinity, -kInfinity, 1e30f};
      for (Index b = 0; b < 2; ++b)
        for (Index j = 6; j < 21; ++j)
          for (Index d = 0; d < 8; ++d) {
            spoilt.k.at<float>({b, 0, j, d}) = garbage[(j + d) % 4];
            spoilt.v.at<float>({b, 0, j, d}) = garbage[(j + d + 1) % 4];
          }
      for (const AttentionPlan* plan : plans_for(p)) {
        const Answer a = solve(*plan, *masked), b = solve(*plan, spoilt);
        for (auto member : {&Answer::out, &Answer::row_stat, &Answer::weights, &Answer::dq, &Answer::dk, &Answer::dv}) {
          EXPECT_LE(largest_difference(b.*member, a.*member), 2e-6) << plan->name;
        }
      }
    }
  }
}

TEST(AttentionSemantics, AFutureKeyChangesNothingUnderACausalMask) {
  for (Anchor anchor : {Anchor::start, Anchor::end}) {
    for (Problem p : both_scores(1, 2, 2, 5, 9)) {
      p.spec.mask = Mask::causal(anchor);
      Problem changed = p;
      changed.k = p.k.clone(), changed.v = p.v.clone();
      const Index row = 2, first_future = row + (anchor == Anchor::end ? 9 - 5 : 0) + 1;
      for (Index h = 0; h < 2; ++h)
        for (Index j = first_future; j < 9; ++j)
          changed.k.at<float>({0, h, j, 0}) += 5, changed.v.at<float>({0, h, j, 1}) += 5;
      for (const AttentionPlan* plan : plans_for(p)) {
        const Answer a = solve(*plan, p), b = solve(*plan, changed);
        EXPECT_TRUE(same_bits(slice(a.out, 2, 0, row + 1), slice(b.out, 2, 0, row + 1))) << plan->name;
        EXPECT_FALSE(same_bits(a.out, b.out));
      }
    }
  }
}

TEST(AttentionSemantics, CausalWindowPaddingAndDenseMasksIntersect) {
  for (Problem p : both_scores(2, 2, 2, 7, 9)) {
    p.spec.mask = Mask::sliding_window(3, 0, Anchor::end);
    p.lengths = Tensor::from(std::vector<std::int64_t>{6, 8}, {2});
    p.allowed = booleans({2, 1, 7, 9}, 11);
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      for (Index b = 0; b < 2; ++b)
        for (Index h = 0; h < 2; ++h)
          for (Index i = 0; i < 7; ++i)
            for (Index j = 0; j < 9; ++j) {
              const Index position = i + 2;
              const bool allowed = j <= position && position - j <= 3 && j < p.lengths.at<std::int64_t>({b}) &&
                                   p.allowed.at<std::uint8_t>({b, 0, i, j}) != 0;
              EXPECT_EQ(a.weights.at<float>({b, h, i, j}) > 0, allowed) << plan->name;
            }
    }
  }
}

TEST(AttentionSemantics, ScoresAreAfterScaleAndCapAndBeforeBiasAndMask) {
  for (Problem p : both_scores(1, 1, 1, 4, 20)) {
    p.spec.bias.soft_cap = 1.5;
    const Answer open = solve(kReferencePlan, p);
    p.bias = random_tensor(DType::f32, {1, 1, 4, 20}, 3, 5);
    p.spec.mask = Mask::causal(Anchor::start);
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      EXPECT_LE(largest_difference(a.scores, open.scores), 2e-6) << plan->name;
      for (Index i = 0; i < a.scores.size(); ++i) EXPECT_LE(std::abs(a.scores.data<float>()[i]), 1.5f);
    }
  }
}

TEST(AttentionSemantics, WeightsSumToOneAndMultiplyTheValuesToTheOutput) {
  for (Problem p : both_scores(2, 4, 2, 6, 30, 16, 12)) {
    p.spec.mask = Mask::causal();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      for (Index b = 0; b < 2; ++b)
        for (Index h = 0; h < 4; ++h)
          for (Index i = 0; i < 6; ++i) {
            double sum = 0;
            for (Index j = 0; j < 30; ++j) sum += a.weights.at<float>({b, h, i, j});
            EXPECT_NEAR(sum, 1, 1e-6) << plan->name;
            for (Index d = 0; d < 12; ++d) {
              double out = 0;
              for (Index j = 0; j < 30; ++j)
                out += double{a.weights.at<float>({b, h, i, j})} * p.v.at<float>({b, h / 2, j, d});
              EXPECT_NEAR(a.out.at<float>({b, h, i, d}), out, 2e-6) << plan->name;
            }
          }
    }
  }
}

TEST(AttentionSemantics, RowStatIsTheLogSumExpOfTheRowAndGivesTheWeightsBack) {
  for (Problem p : both_scores(2, 2, 1, 6, 30)) {
    p.bias = random_tensor(DType::f32, {1, 2, 6, 30}, 8);
    p.spec.mask = Mask::sliding_window(9, 2, Anchor::start);
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      const Tensor weights = Tensor::empty_like(a.weights);
      Workspace workspace;
      attention_weights(p.q, p.k, p.spec, a.row_stat, weights, workspace);
      EXPECT_LE(largest_difference(weights, a.weights), 1e-6) << plan->name;
    }
  }
}

TEST(AttentionSemantics, AScoreFarFromZeroDoesNotOverflow) {
  for (Problem p : both_scores(1, 1, 1, 2, 20)) {
    p.bias = Tensor::zeros(DType::f32, {1, 1, 2, 20});
    for (Index j = 0; j < 20; ++j) {
      p.bias.at<float>({0, 0, 0, j}) = 1e4f;
      p.bias.at<float>({0, 0, 1, j}) = j == 3 ? -1e4f : -2e4f;
    }
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer a = solve(*plan, p);
      for (Index i = 0; i < a.out.size(); ++i) EXPECT_TRUE(std::isfinite(a.out.data<float>()[i])) << plan->name;
      EXPECT_EQ(a.weights.at<float>({0, 0, 1, 3}), 1.0f);
    }
  }
}

TEST(AttentionSemantics, HeadsReadTheirKeyValueHead) {
  for (const Problem& p : both_scores(2, 6, 2, 5, 17)) {
    Problem repeated = p;
    repeated.k = Tensor::empty(DType::f32, {2, 6, 17, 8}), repeated.v = Tensor::empty(DType::f32, {2, 6, 17, 8});
    for (Index h = 0; h < 6; ++h) {
      copy(select(p.k, 1, h / 3), select(repeated.k, 1, h));
      copy(select(p.v, 1, h / 3), select(repeated.v, 1, h));
    }
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer grouped = solve(*plan, p), each = solve(*plan, repeated);
      EXPECT_TRUE(same_bits(grouped.out, each.out)) << plan->name;
      EXPECT_TRUE(same_bits(grouped.dq, each.dq)) << plan->name;
      for (auto [one, many] : {std::pair{grouped.dk, each.dk}, std::pair{grouped.dv, each.dv}}) {
        const Tensor summed = Tensor::zeros_like(one);
        for (Index b = 0; b < 2; ++b)
          for (Index h = 0; h < 6; ++h)
            for (Index j = 0; j < 17; ++j)
              for (Index d = 0; d < 8; ++d) summed.at<float>({b, h / 3, j, d}) += many.at<float>({b, h, j, d});
        EXPECT_LE(largest_difference(one, summed), 3e-6) << plan->name;
      }
    }
  }
}

constexpr Tensor Answer::*kRowAnswers[] = {&Answer::out, &Answer::row_stat, &Answer::dq, &Answer::dk, &Answer::dv};

TEST(AttentionInvariance, AnElementOfABatchHasTheSameBitsAlone) {
  for (Problem p : both_scores(3, 4, 2, 9, 37, 24, 20)) {
    p.lengths = Tensor::from(std::vector<std::int64_t>{20, 37, 1}, {3});
    p.spec.mask = Mask::causal();
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer together = solve(*plan, p);
      for (Index b = 0; b < 3; ++b) {
        Problem alone = p;
        for (Tensor Problem::*member : {&Problem::q, &Problem::k, &Problem::v, &Problem::dout, &Problem::lengths}) {
          alone.*member = (p.*member).rows(b, b + 1);
        }
        alone.bind();
        const Answer one = solve(*plan, alone);
        for (auto member : kRowAnswers) {
          EXPECT_TRUE(same_bits((together.*member).rows(b, b + 1), one.*member)) << plan->name << " " << b;
        }
      }
    }
  }
}

// [B, H, L, D] with more rows behind, full of other numbers.
Tensor padded_rows(const Tensor& tensor, Index rows, std::uint64_t seed) {
  const Tensor longer = random_tensor(tensor.dtype(), {tensor.dim(0), tensor.dim(1), rows, tensor.dim(3)}, seed);
  copy(tensor, slice(longer.view(), 2, 0, tensor.dim(2)));
  return longer;
}

TEST(AttentionInvariance, KeysBehindTheMaskAndRowsBehindTheLastChangeNoBit) {
  for (Problem p : both_scores(2, 2, 1, 9, 14, 16, 16)) {
    p.spec.dropout = {.probability = 0.2, .seed = 5, .stream = 6};
    p.spec.mask = Mask::sliding_window(11, 4, Anchor::start);
    p.lengths = Tensor::from(std::vector<std::int64_t>{14, 10}, {2});
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer before = solve(*plan, p);
      for (Index keys : {15, 16, 17, 33, 600}) {
        for (Index queries : {9, 10, 70}) {
          Problem longer = p;
          longer.q = padded_rows(p.q, queries, 21), longer.dout = padded_rows(p.dout, queries, 22);
          longer.k = padded_rows(p.k, keys, 23), longer.v = padded_rows(p.v, keys, 24);
          fill(slice(longer.dout.view(), 2, 9, queries), 0);  // a padded position has no loss
          const Answer after = solve(*plan, longer);
          EXPECT_TRUE(same_bits(slice(after.out.view(), 2, 0, 9), before.out)) << plan->name << keys << queries;
          EXPECT_TRUE(same_bits(slice(after.dq.view(), 2, 0, 9), before.dq)) << plan->name << keys << queries;
          EXPECT_TRUE(same_bits(slice(after.row_stat.view(), 2, 0, 9), before.row_stat))
              << plan->name << keys << queries;
          EXPECT_EQ(largest_difference(slice(after.dk.view(), 2, 0, 14), before.dk), 0)
              << plan->name << keys << queries;
          EXPECT_EQ(largest_difference(slice(after.dv.view(), 2, 0, 14), before.dv), 0)
              << plan->name << keys << queries;
        }
      }
    }
  }
}

TEST(AttentionInvariance, TheThreadCountChangesNoBit) {
  const int threads = thread_count();
  for (Problem p : both_scores(5, 4, 2, 70, 90, 16, 16)) {
    p.bias = random_tensor(DType::f32, {1, 4, 1, 90}, 4);  // its gradient is a sum over the batch and the rows
    p.spec.dropout = {.probability = 0.1, .seed = 5, .stream = 6};
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      set_thread_count(1);
      const Answer one = solve(*plan, p);
      for (int count : {2, 3, 7}) {
        set_thread_count(count);
        const Answer many = solve(*plan, p);
        for (auto member : kAnswers) {
          if ((one.*member).is_empty()) continue;
          EXPECT_TRUE(same_bits(one.*member, many.*member)) << plan->name;
        }
      }
    }
  }
  set_thread_count(threads);
}

TEST(AttentionViews, PackedAndInterleavedHeadsAreReadWhereTheyLie) {
  const Index batch = 2, heads = 3, length = 11, width = 8;
  for (const Problem& p : both_scores(batch, heads, heads, length, length, width, width)) {
    // q, k, v side by side in [B, L, 3 * H * D], as one projection leaves them.
    const Tensor packed = Tensor::zeros(DType::f32, {batch, length, 3 * heads * width});
    const auto part = [&](const Tensor& of, int which) {
      return split_heads(slice(of.view(), 2, which * heads * width, (which + 1) * heads * width), heads);
    };
    copy(p.q, part(packed, 0)), copy(p.k, part(packed, 1)), copy(p.v, part(packed, 2));
    const Tensor out = Tensor::zeros(DType::f32, {batch, length, heads * width}), dpacked = Tensor::zeros_like(packed);
    const Tensor stat = Tensor::zeros(DType::f32, {batch, heads, length}), dout = Tensor::zeros_like(out);
    copy(p.dout, split_heads(dout.view(), heads));
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer apart = solve(*plan, p);
      const AttentionCase c = make_attention_case("test", part(packed, 0), part(packed, 1), part(packed, 2), p.spec);
      Workspace workspace;
      const View out_heads = split_heads(out.view(), heads);
      plan->forward(c, {.out = out_heads, .row_stat = stat}, workspace);
      plan->backward(c, {out_heads, stat, split_heads(dout.view(), heads)},
                     {.dq = part(dpacked, 0), .dk = part(dpacked, 1), .dv = part(dpacked, 2)}, workspace);
      EXPECT_TRUE(same_bits(out_heads, apart.out)) << plan->name;
      EXPECT_TRUE(same_bits(part(dpacked, 0), apart.dq)) << plan->name;
      EXPECT_TRUE(same_bits(part(dpacked, 1), apart.dk)) << plan->name;
      EXPECT_TRUE(same_bits(part(dpacked, 2), apart.dv)) << plan->name;
    }
  }
}

TEST(AttentionViews, OnlyWhatIsWantedIsComputed) {
  for (const Problem& p : both_scores(1, 2, 2, 5, 9)) {
    for (const AttentionPlan* plan : plans_for(p)) {
      const Answer all = solve(*plan, p);
      const AttentionCase c = make_attention_case("test", p.q, p.k, p.v, p.spec);
      Workspace workspace;
      const Tensor weights = Tensor::zeros_like(all.weights), dv = Tensor::zeros_like(all.dv),
                   dq = Tensor::zeros_like(all.dq);
      plan->forward(c, {.weights = weights}, workspace);
      EXPECT_TRUE(same_bits(weights, all.weights)) << plan->name;
      plan->backward(c, {all.out, all.row_stat, p.dout}, {.dv = dv}, workspace);
      EXPECT_TRUE(same_bits(dv, all.dv)) << plan->name;
      plan->backward(c, {all.out, all.row_stat, p.dout}, {.dq = dq}, workspace);
      EXPECT_TRUE(same_bits(dq, all.dq)) << plan->name;
      plan->backward(c, {all.out, all.row_stat, p.dout}, {}, workspace);
    }
  }
}

TEST(AttentionViews, ParametersAccumulateAndActivationsAreOverwritten) {
  Problem p = make_problem(2, 2, 2, 5, 9, 8, 8, 1, true);
  p.bias = random_tensor(DType::f32, {1, 2, 5, 9}, 4);
  p.bind();
  for (const AttentionPlan* plan : plans_for(p)) {
    const Answer once = solve(*plan, p);
    const AttentionCase c = make_attention_case("test", p.q, p.k, p.v, p.spec);
    Workspace workspace;
    Answer twice = once;
    twice.dbias = once.dbias.clone(), twice.dvector = once.dvector.clone(), twice.dq = once.dq.clone();
    plan->backward(c, {once.out, once.row_stat, p.dout},
                   {.dq = twice.dq, .dbias = twice.dbias, .dadditive_vector = twice.dvector}, workspace);
    EXPECT_TRUE(same_bits(twice.dq, once.dq)) << plan->name;
    for (auto member : {&Answer::dbias, &Answer::dvector}) {
      for (Index i = 0; i < (once.*member).size(); ++i) {
        EXPECT_NEAR((twice.*member).data<float>()[i], 2 * (once.*member).data<float>()[i], 1e-4) << plan->name;
      }
    }
  }
}

TEST(AttentionDropout, KeepsTheAskedShareAndTheExpectation) {
  const DropoutMask mask({.probability = 0.3, .seed = 9, .stream = 1});
  Index kept = 0;
  const Index rows = 200, keys = 200;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < keys; ++j) kept += mask.row(i % 3, i % 5, i).keeps(j);
  EXPECT_NEAR(static_cast<double>(kept) / (rows * keys), 0.7, 0.01);
  EXPECT_NEAR(mask.scale() * 0.7, 1, 1e-4);
}

TEST(AttentionDropout, HeadsRowsAndStreamsDrawDifferently) {
  const DropoutMask mask({.probability = 0.5, .seed = 9, .stream = 1}),
      other({.probability = 0.5, .seed = 9, .stream = 2});
  const auto pattern = [](const DropoutRow& row) {
    std::vector<bool> bits;
    for (Index j = 0; j < 128; ++j) bits.push_back(row.keeps(j));
    return bits;
  };
  const auto first = pattern(mask.row(0, 0, 0));
  EXPECT_EQ(first, pattern(mask.row(0, 0, 0)));
  for (const DropoutRow& row : {mask.row(1, 0, 0), mask.row(0, 1, 0), mask.row(0, 0, 1), other.row(0, 0, 0)}) {
    EXPECT_NE(first, pattern(row));
  }
}

// Sets HEED_PLAN while it lives.
struct ForcedPlan {
  explicit ForcedPlan(const char* name) { setenv("HEED_PLAN", name, 1); }
  ~ForcedPlan() { unsetenv("HEED_PLAN"); }
};

TEST(AttentionChoice, HeedPlanForcesAPlanAndExplainsARefusal) {
  const Problem p = make_problem(1, 1, 1, 3, 4, 8, 8, 1);
  const Tensor out = Tensor::zeros(DType::f32, {1, 1, 3, 8});
  Workspace workspace;
  const auto call = [&] { attention(p.q, p.k, p.v, p.spec, {.out = out}, workspace); };
  EXPECT_EQ(explain(p.q, p.k, p.v, p.spec).substr(0, 15), "tiled computes ");
  {
    const ForcedPlan forced("reference");
    EXPECT_EQ(refusal(call), "no error");
    EXPECT_EQ(
        explain(p.q, p.k, p.v, p.spec),
        "reference computes q f32 [1, 1, 3, 8], k f32 [1, 1, 4, 8], v f32 [1, 1, 4, 8]; additive refused: the score is "
        "not additive; tiled was passed over by HEED_PLAN; linear refused: the score has no feature map");
  }
  {
    const ForcedPlan forced("additive");
    EXPECT_EQ(refusal(call), "attention: HEED_PLAN=additive cannot compute this call: the score is not additive");
  }
  const ForcedPlan forced("fastest");
  EXPECT_EQ(refusal(call), "attention: HEED_PLAN is 'fastest', but the plans are additive, tiled, linear, reference");
}

TEST(AttentionChoice, ThePlanDependsOnNoLength) {
  for (bool additive : {false, true}) {
    std::vector<std::string_view> names;
    for (Index batch : {1, 5})
      for (Index queries : {1, 33})
        for (Index keys : {0, 1, 200}) {
          const Problem p = make_problem(batch, 2, 2, queries, keys, 8, 8, 1, additive);
          names.push_back(choose_attention_plan(make_attention_case("test", p.q, p.k, p.v, p.spec)).name);
        }
    for (std::string_view name : names) EXPECT_EQ(name, names[0]);
  }
}

TEST(AttentionErrors, NameTheRuleAndTheShapes) {
  const Problem p = make_problem(2, 4, 2, 3, 5, 8, 6, 1);
  Workspace workspace;
  const Tensor out = Tensor::zeros(DType::f32, {2, 4, 3, 6});
  const auto failing = [&](const std::function<void(Problem&)>& spoil) {
    Problem wrong = p;
    spoil(wrong);
    return refusal([&] { attention(wrong.q, wrong.k, wrong.v, wrong.spec, {.out = out}, workspace); });
  };
  EXPECT_EQ(failing([](Problem&) {}), "no error");
  EXPECT_EQ(failing([](Problem& w) {
              w.q = Tensor::zeros(DType::f32, {2, 3, 8});
            }),
            "attention: q must be [B, H, Lq, D], but is f32 [2, 3, 8]");
  EXPECT_EQ(failing([](Problem& w) { w.k = w.k.to(DType::f64); }),
            "attention: k must be f32 as q is, or bf16 or f16, but is f64 [2, 2, 5, 8]");
  EXPECT_EQ(failing([](Problem& w) {
              w.q = Tensor::zeros(DType::bf16, {2, 4, 3, 8});
            }),
            "attention: k must be bf16 as q is, but is f32 [2, 2, 5, 8]");
  EXPECT_EQ(failing([](Problem& w) {
              w.k = Tensor::zeros(DType::f32, {2, 2, 5, 7});
            }),
            "attention: q [B, H, Lq, D] and k [B, Hk, Lk, D] must agree in B and D >= 1, but are f32 [2, 4, 3, 8] and "
            "f32 [2, "
            "2, 5, 7]");
  EXPECT_EQ(failing([](Problem& w) {
              w.k = Tensor::zeros(DType::f32, {2, 3, 5, 8});
            }),
            "attention: the heads of q must be a multiple of the heads of k, but q is f32 [2, 4, 3, 8] and k f32 [2, "
            "3, 5, 8]");
  EXPECT_EQ(failing([](Problem& w) {
              w.v = Tensor::zeros(DType::f32, {2, 2, 4, 6});
            }),
            "attention: k and v must agree in [B, Hk, Lk], but are f32 [2, 2, 5, 8] and f32 [2, 2, 4, 6]");
  EXPECT_EQ(failing([](Problem& w) { w.v = Tensor(); }), "attention: out is wanted, but v is an empty view");
  EXPECT_EQ(
      failing([](Problem& w) {
        w.v = Tensor::zeros(DType::f32, {2, 2, 5, 7});
      }),
      "attention: out must be f32 of shape [2, 4, 3, 7] with stride 1 along its last axis, but is f32 [2, 4, 3, 6]");
  EXPECT_EQ(failing([](Problem& w) { w.spec.score.kind = Score::Kind::additive; }),
            "attention: the additive score's vector must be a contiguous vector f32 [8], but is an empty view");
  EXPECT_EQ(failing([](Problem& w) { w.spec.score.scale = std::nan(""); }),
            "attention: the scale must be finite, but is nan");
  EXPECT_EQ(failing([](Problem& w) { w.spec.bias.soft_cap = 0; }),
            "attention: the soft-cap must be positive and finite, but is 0");
  EXPECT_EQ(failing([](Problem& w) { w.spec.dropout.probability = 1; }),
            "attention: the dropout probability must be in [0, 1), but is 1");
  EXPECT_EQ(failing([](Problem& w) {
              w.bias = Tensor::zeros(DType::f32, {2, 3, 3, 5}), w.bind();
            }),
            "attention: the dense bias must be f32, bf16 or f16 [B | 1, H | 1, Lq | 1, Lk | 1] of [2, 4, 3, 5], but is "
            "f32 [2, 3, 3, 5]");
  EXPECT_EQ(failing([](Problem& w) { w.lengths = Tensor::zeros(DType::i32, {3}), w.bind(); }),
            "attention: key lengths must be i32 or i64 [2], but are i32 [3]");
  EXPECT_EQ(failing([](Problem& w) {
              w.allowed = Tensor::zeros(DType::boolean, {2, 1, 1, 3}), w.bind();
            }),
            "attention: the boolean mask must be boolean [B | 1, H | 1, Lq | 1, Lk | 1] of [2, 4, 3, 5], but is "
            "boolean [2, 1, 1, 3]");
  EXPECT_EQ(refusal([&] { attention(transpose(p.q.view(), 2, 3), p.k, p.v, p.spec, {.out = out}, workspace); }),
            "attention: q must have stride 1 along its last axis, but is f32 [2, 4, 8, 3] with strides [96, 24, 1, 8]");
  const Answer a = solve(kReferencePlan, p);
  EXPECT_EQ(refusal([&] {
              attention_backward(p.q, p.k, p.v, p.spec, {a.out, a.row_stat, p.dout}, {.dq = a.dk}, workspace);
            }),
            "attention_backward: dq must be f32 of shape [2, 4, 3, 8] with stride 1 along its last axis, but is f32 "
            "[2, 2, 5, 8]");
  EXPECT_EQ(refusal([&] {
              attention_backward(p.q, p.k, p.v, p.spec, {a.out, a.row_stat, p.dout}, {.dbias = a.dk}, workspace);
            }),
            "attention_backward: dbias is wanted, but the call has no dense bias");
}

}  // namespace
}  // namespace heed
