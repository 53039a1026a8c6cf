// Every plan against the definition, on random problems with every feature.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/pair_unit.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_answer.h"

namespace heed {
namespace {

using testing::AttentionSample;
using testing::AttentionYardstick;
using testing::Choices;

struct Compared {
  Index problems = 0;
  Index fast = 0;          // of them: those that a plan other than the reference takes
  Index fused = 0;         // those that the fused plan takes
  Index bf16 = 0;          // those that a unit takes which multiplies bf16
  Index tiled[5][5] = {};  // those that the tiled plan takes, by score and normaliser
};

// Holds every plan that takes the problem of a seed against the definition.
void compare(std::uint64_t seed, Compared& compared) {
  Choices choices(seed);
  const AttentionSample problem = testing::random_attention_sample(choices);
  const AttentionYardstick yardstick(problem);
  ++compared.problems;
  const std::vector<const AttentionPlan*> plans = testing::plans_for(problem);
  compared.fast += plans.size() > 1;
  for (const AttentionPlan* plan : plans) {
    compared.fused += plan->name == "fused";
    compared.bf16 += plan->name == "fused-bf16";
    if (plan->name == "tiled") {
      ++compared.tiled[static_cast<int>(problem.spec.score.kind)][static_cast<int>(problem.spec.normaliser.kind)];
    }
    EXPECT_EQ(yardstick.complaint(testing::solve(*plan, problem)), "")
        << plan->name << ", seed " << seed << ": " << describe(problem);
  }
}

// Problems that no fast plan takes are compared too, but do not count.
constexpr Index kShards = 8, kFastOfAShard = 2500;

class AttentionPlans : public ::testing::TestWithParam<Index> {};

TEST_P(AttentionPlans, AreAsGoodAsPlainLoopsAgainstTheDefinitionInF64) {
  const int threads = thread_count();
  set_thread_count(1 + static_cast<int>(GetParam() % 2));
  Compared compared;
  for (std::uint64_t n = 0; compared.fast < kFastOfAShard && n < 4 * kFastOfAShard; ++n) {
    compare(static_cast<std::uint64_t>(GetParam()) * 1000000 + n, compared);
    if (HasFailure()) break;  // one problem is enough to look into
  }
  set_thread_count(threads);
  EXPECT_GE(compared.fast, kFastOfAShard);
  EXPECT_GE(compared.problems, kFastOfAShard);
  EXPECT_GE(compared.fused, kFastOfAShard / 8);
  for (auto score : {Score::Kind::dot, Score::Kind::additive, Score::Kind::cosine, Score::Kind::squared_distance})
    for (auto normaliser : {Normaliser::Kind::softmax, Normaliser::Kind::sigmoid, Normaliser::Kind::sparsemax,
                            Normaliser::Kind::entmax15}) {
      EXPECT_GE(compared.tiled[static_cast<int>(score)][static_cast<int>(normaliser)], 20)
          << static_cast<int>(score) << " " << static_cast<int>(normaliser);
    }
}

INSTANTIATE_TEST_SUITE_P(Shard, AttentionPlans, ::testing::Range<Index>(0, kShards));

TEST(AttentionPlanTargets, AreAsGoodOnEverySimdTarget) {
  for (std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    Compared compared;
    for (std::uint64_t seed = 0; compared.fast < 150 && seed < 1000; ++seed) compare(90000000 + seed, compared);
    EXPECT_GE(compared.fast, 150);
  }
  force_simd_target(0);
}

// The rule itself: an answer of which one number is off by a hundredth is found out.
TEST(AttentionPlanUnits, AreAsGoodOnEveryUnitThatMultipliesBf16) {
  if (kernels::pair_units().empty()) GTEST_SKIP() << "this processor has no unit that multiplies bf16";
  for (const kernels::PairUnit& unit : kernels::pair_units()) {
    SCOPED_TRACE(unit.name);
    kernels::force_pair_unit(&unit);
    Compared compared;
    for (std::uint64_t seed = 80000000; compared.bf16 < 150 && seed < 80010000; ++seed) {
      Choices choices(seed);
      if (testing::random_attention_sample(choices).q.dtype() == DType::bf16) compare(seed, compared);
    }
    EXPECT_GE(compared.bf16, 150);
  }
  kernels::force_pair_unit(nullptr);
}

TEST(AttentionYardstickRule, NoticesOneNumberThatIsALittleOff) {
  Index noticed[std::size(testing::kAttentionAnswerParts)] = {};
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Choices choices(seed);
    const AttentionSample problem = testing::random_attention_sample(choices);
    if (problem.q.dtype() != DType::f32 || problem.k.dtype() != DType::f32) continue;
    const AttentionYardstick yardstick(problem);
    for (std::size_t m = 0; m < std::size(noticed); ++m) {
      testing::AttentionAnswer answer = testing::solve(attention_plans().back(), problem);
      const Tensor& part = answer.*testing::kAttentionAnswerParts[m].tensor;
      if (part.is_empty() || part.size() == 0) continue;
      const auto larger = [](float a, float b) { return std::abs(a) < std::abs(b); };
      float& largest = *std::max_element(part.data<float>(), part.data<float>() + part.size(), larger);
      if (!std::isfinite(largest) || std::abs(largest) < 0.5f) continue;
      ASSERT_EQ(yardstick.complaint(answer), "") << seed;
      largest *= 1.01f;
      EXPECT_NE(yardstick.complaint(answer), "") << testing::kAttentionAnswerParts[m].name << ", seed " << seed;
      ++noticed[m];
    }
  }
  for (Index count : noticed) EXPECT_GE(count, 10);
}

TEST(AttentionPlanList, IsOrderedWithTheReferenceLastAndEachNamedOnce) {
  std::vector<std::string_view> names;
  for (const AttentionPlan& plan : attention_plans()) {
    for (std::string_view name : names) EXPECT_NE(name, plan.name);
    names.push_back(plan.name);
  }
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back(), "reference");
}

}  // namespace
}  // namespace heed
