#include "heed/ops/attention/plans/fused_periodic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/periodic_parts.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/attention_sample.h"
#include "heed/testing/choices.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::AttentionSample;
using testing::problem_of;
using testing::random_tensor;
using testing::same_bits;

struct Answer {
  Tensor out, row_stat, dq, dk, dv;
};

Answer solve(const AttentionSample& p) {
  const auto like = [](const Tensor& t) { return Tensor::zeros(DType::f32, {t.dim(0), t.dim(1), t.dim(2), t.dim(3)}); };
  Answer a{like(p.dout), Tensor::zeros(DType::f32, {p.q.dim(0), p.q.dim(1), p.q.dim(2)}), like(p.q), like(p.k),
           like(p.v)};
  Workspace workspace;
  const AttentionProblem problem = problem_of(p);
  kFusedPlan.forward(problem, {.out = a.out, .row_stat = a.row_stat}, workspace);
  kFusedPlan.backward(problem, {a.out, a.row_stat, p.dout, p.drow_stat}, {.dq = a.dq, .dk = a.dk, .dv = a.dv},
                      workspace);
  return a;
}

AttentionSample sample(const Mask& mask, Index queries, Index keys, Index batch = 1) {
  AttentionSample p = testing::plain_problem(
      {.batch = batch, .heads = 2, .key_heads = 1, .queries = queries, .keys = keys, .width = 24, .value_width = 20});
  p.drow_stat = random_tensor(DType::f32, {batch, 2, queries}, 5);
  p.spec.mask = mask;
  p.spec.mask.anchor = Anchor::start;
  return p;
}

// Key lengths that refuse nothing: the mask is no longer one that repeats, and goes the way of every other.
AttentionSample with_lengths(AttentionSample p) {
  p.spec.mask =
      p.spec.mask & Mask::key_lengths(Tensor::from(
                        std::vector<std::int64_t>(static_cast<std::size_t>(p.q.dim(0)), p.k.dim(2)), {p.q.dim(0)}));
  return p;
}

std::vector<Mask> periodic_masks() {
  std::vector<Mask> masks;
  for (Index stride : {64, 65}) masks.push_back(Mask::strided({.stride = stride}));
  for (Index block : {64, 128}) masks.push_back(Mask::fixed({.block = block, .summary = 1}));
  for (std::size_t n = 0, count = masks.size(); n < count; ++n) {
    Mask causal = Mask::causal(Anchor::start), mask = masks[n];
    mask.anchor = Anchor::start;
    masks.push_back(mask & causal);
  }
  return masks;
}

void expect_same_bits_as_any_mask(const AttentionSample& p) {
  const AttentionSample plain = with_lengths(p);
  ASSERT_TRUE(PeriodicParts::fit(problem_of(p)));
  ASSERT_FALSE(PeriodicParts::fit(problem_of(plain)));
  const Answer periodic = solve(p), any = solve(plain);
  EXPECT_TRUE(same_bits(periodic.out, any.out)) << describe(p);
  EXPECT_TRUE(same_bits(periodic.row_stat, any.row_stat)) << describe(p);
  EXPECT_TRUE(same_bits(periodic.dq, any.dq)) << describe(p);
  EXPECT_TRUE(same_bits(periodic.dk, any.dk)) << describe(p);
  EXPECT_TRUE(same_bits(periodic.dv, any.dv)) << describe(p);
}

TEST(PeriodicMasks, GiveTheBitsThatTheyGiveAsAnyOtherMaskOnEverySimdTarget) {
  for (std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    for (const Mask& mask : periodic_masks()) expect_same_bits_as_any_mask(sample(mask, 850, 850));
  }
  force_simd_target(0);
}

TEST(PeriodicMasks, GiveTheSameBitsForOtherLengthsScoresSinksAndThreads) {
  const int threads = thread_count();
  for (int count : {1, 3}) {
    set_thread_count(count);
    for (const Mask& mask : periodic_masks()) {
      expect_same_bits_as_any_mask(sample(mask, 800, 900, 2));
      expect_same_bits_as_any_mask(sample(mask, 900, 790));
      AttentionSample p = sample(mask, 800, 800);
      p.spec.score = Score::cosine(8);
      expect_same_bits_as_any_mask(p);
      p = sample(mask, 800, 800);
      p.sinks = Tensor::from(std::vector<float>{0.5f, 3.0f}, {2});
      p.spec.normaliser.sinks = p.sinks;
      expect_same_bits_as_any_mask(p);
    }
  }
  set_thread_count(threads);
}

TEST(PeriodicMasks, GiveTheSameBitsInProblemsOfEveryShape) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    testing::Choices choices(seed);
    const bool strided = choices.one_in(2);
    const Index period = strided ? 64 + choices.below(40) : 64 * choices.of({1, 2});
    const Index least = (strided ? 12 : 6) * period + 1, queries = least + choices.below(200),
                group = choices.of({1, 2, 3}), key_heads = choices.of({1, 2});
    AttentionSample p = testing::plain_problem({.batch = choices.of({1, 2}),
                                                .heads = group * key_heads,
                                                .key_heads = key_heads,
                                                .queries = queries,
                                                .keys = choices.of({queries, least + choices.below(300)}),
                                                .width = 1 + choices.below(40),
                                                .value_width = 1 + choices.below(40)});
    p.spec.mask = strided ? Mask::strided({.stride = period}) : Mask::fixed({.block = period, .summary = 1});
    p.spec.mask.anchor = Anchor::start;
    if (choices.one_in(2)) p.spec.mask = p.spec.mask & Mask::causal(Anchor::start);
    expect_same_bits_as_any_mask(p);
  }
}

TEST(PeriodicMasks, GiveEachGradientAloneWithTheBitsThatItHasBesideTheOthers) {
  for (const Mask& mask : periodic_masks()) {
    const AttentionSample p = sample(mask, 850, 850);
    const Answer all = solve(p);
    const AttentionProblem problem = problem_of(p);
    const AttentionSaved saved{all.out, all.row_stat, p.dout, p.drow_stat};
    Workspace workspace;
    const Tensor dq = Tensor::empty_like(all.dq), dk = Tensor::empty_like(all.dk), dv = Tensor::empty_like(all.dv);
    kFusedPlan.backward(problem, saved, {.dq = dq}, workspace);
    kFusedPlan.backward(problem, saved, {.dk = dk}, workspace);
    kFusedPlan.backward(problem, saved, {.dv = dv}, workspace);
    EXPECT_TRUE(same_bits(dq, all.dq) && same_bits(dk, all.dk) && same_bits(dv, all.dv)) << describe(p);
  }
}

TEST(PeriodicMasks, LeaveARowAloneWhoseRefusedKeysAreNotNumbers) {
  for (const Mask& mask : periodic_masks()) {
    AttentionSample p = sample(mask, 850, 850);
    const Index key = 383;
    p.v.at<float>({0, 0, key, 3}) = std::numeric_limits<float>::quiet_NaN();
    p.k.at<float>({0, 0, 200, 1}) = std::numeric_limits<float>::infinity();
    const AttentionProblem problem = problem_of(p);
    const Answer rows = solve(p);
    for (Index i = 0; i < 850; ++i) {
      const bool sees = problem.mask.allows(0, 1, i, key), sees_infinity = problem.mask.allows(0, 1, i, 200);
      if (sees_infinity) continue;
      EXPECT_EQ(std::isnan(rows.out.at<float>({0, 1, i, 3})), sees) << i;
      EXPECT_FALSE(std::isnan(rows.out.at<float>({0, 1, i, 2}))) << i;
    }
  }
}

// A pattern whose far keys are two to a block of 64, that has few periods, or that stands beside something else, goes
// the way of any mask.
TEST(PeriodicMasks, AreThoseOfWhichARowSeesOneFarKeyInABlock) {
  EXPECT_FALSE(PeriodicParts::fit(problem_of(sample(Mask::strided({.stride = 63}), 850, 850))));
  EXPECT_FALSE(PeriodicParts::fit(problem_of(sample(Mask::fixed({.block = 96, .summary = 1}), 850, 850))));
  EXPECT_FALSE(PeriodicParts::fit(problem_of(sample(Mask::fixed({.block = 128, .summary = 2}), 850, 850))));
  EXPECT_FALSE(PeriodicParts::fit(problem_of(sample(Mask::strided({.stride = 64}), 850, 768))));
  EXPECT_FALSE(PeriodicParts::fit(problem_of(sample(Mask::strided({.stride = 64}), 768, 850))));
  AttentionSample p = sample(Mask::strided({.stride = 64}), 850, 850);
  ASSERT_TRUE(PeriodicParts::fit(problem_of(p)));
  p.spec.dropout.probability = 0.5;
  EXPECT_FALSE(PeriodicParts::fit(problem_of(p)));
  p = sample(Mask::strided({.stride = 64}), 850, 851);
  p.spec.mask.anchor = Anchor::end;
  EXPECT_FALSE(PeriodicParts::fit(problem_of(p)));
}

}  // namespace
}  // namespace heed
