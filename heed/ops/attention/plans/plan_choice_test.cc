// Which plan computes a task, and what may move that choice.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heed/kernels/pair_unit.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/attention_sample.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::AttentionSample;
using testing::AttentionShape;
using testing::problem_of;
using Pass = AttentionTask::Pass;

constexpr AttentionTask kTasks[] = {{},
                                    {.weights = true},
                                    {.scores = true},
                                    {.weights = true, .scores = true},
                                    {.pass = Pass::backward},
                                    {.pass = Pass::weights}};

void no_forward(const AttentionProblem&, const AttentionResult&, Workspace&) {}
std::string_view can(const AttentionProblem&, const AttentionTask&) { return {}; }
std::string_view cannot(const AttentionProblem&, const AttentionTask&) { return "it never can"; }
// Cheap for one query, dear for many, and the other way round.
double by_queries(const AttentionProblem& problem) { return static_cast<double>(problem.queries); }
double at_once(const AttentionProblem&) { return 8; }
double nothing(const AttentionProblem&) { return 0; }

TEST(AttentionPlanChoice, TheFirstThatCanFixesTheOrderAndTheCheapestOfThatOrderRuns) {
  const AttentionPlan plans[] = {{"never", SumOrder::plain, cannot, nothing, no_forward, nullptr, nullptr},
                                 {"long", SumOrder::tiles, can, at_once, no_forward, nullptr, nullptr},
                                 {"other", SumOrder::rows, can, nothing, no_forward, nullptr, nullptr},
                                 {"short", SumOrder::tiles, can, by_queries, no_forward, nullptr, nullptr}};
  const auto chosen = [&](Index queries) {
    return choose_plan_of(plans, problem_of(testing::plain_problem({.queries = queries, .keys = 4})), {})->name;
  };
  EXPECT_EQ(chosen(1), "short");
  EXPECT_EQ(chosen(8), "long") << "of two that cost the same the first one runs";
  EXPECT_EQ(chosen(100), "long");
}

TEST(AttentionPlanChoice, APlanIsNotAskedForAPassThatItDoesNotHave) {
  const AttentionPlan plans[] = {{"forward", SumOrder::tiles, can, nothing, no_forward, nullptr, nullptr}};
  const AttentionProblem problem = problem_of(testing::plain_problem({.queries = 3, .keys = 4}));
  EXPECT_EQ(choose_plan_of(plans, problem, {.pass = Pass::backward}), nullptr);
  EXPECT_EQ(plans[0].refusal(problem, {.pass = Pass::backward}), "it has no backward pass");
  EXPECT_EQ(plans[0].refusal(problem, {.pass = Pass::weights}), "it has no pass for the weights alone");
}

TEST(AttentionPlanChoice, TheOrderDependsOnNoLength) {
  std::vector<std::vector<SumOrder>> orders;
  for (Index batch : {1, 5})
    for (Index queries : {1, 33})
      for (Index keys : {0, 1, 200}) {
        orders.emplace_back();
        for (const AttentionSample& p :
             testing::attention_kinds({.batch = batch, .heads = 2, .key_heads = 2, .queries = queries, .keys = keys})) {
          const AttentionProblem problem = problem_of(p);
          for (const AttentionTask& task : kTasks) orders.back().push_back(choose_attention_plan(problem, task).order);
        }
      }
  for (const auto& of_kinds : orders) EXPECT_EQ(of_kinds, orders[0]);
}

TEST(AttentionPlanChoice, ShortRunsWhereOneTileAndOneBlockHoldAHead) {
  const auto chosen = [&](Index queries, Index keys, Pass pass) {
    const AttentionSample p = testing::plain_problem({.batch = 3, .queries = queries, .keys = keys});
    return choose_attention_plan(problem_of(p), {.pass = pass}).name;
  };
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    EXPECT_EQ(chosen(24, 24, pass), "short");
    EXPECT_EQ(chosen(64, 64, pass), "short");
    EXPECT_EQ(chosen(65, 24, pass), "fused");
    EXPECT_EQ(chosen(24, 65, pass), "fused");
  }
  EXPECT_EQ(chosen(1, 64, Pass::forward), "decode");
  EXPECT_EQ(chosen(4, 4, Pass::forward), "short");  // what a row costs "decode" outweighs few keys
}

TEST(AttentionPlanChoice, AStepIsDecodedWhateverHeadsShare) {
  for (Index key_heads : {1, 2, 4}) {
    const auto chosen = [&](DType dtype) {
      const AttentionShape shape{.heads = 4, .key_heads = key_heads, .queries = 1, .keys = 200};
      return choose_attention_plan(problem_of(testing::plain_problem(shape, dtype)), {}).name;
    };
    EXPECT_EQ(chosen(DType::f32), "decode");
    EXPECT_EQ(chosen(DType::bf16), kernels::pair_unit() == nullptr ? "decode" : "decode-bf16");
  }
}

// The names of two plans of one order that give a problem other bits; empty where there are none.
std::string disagreement(const std::vector<const AttentionPlan*>& plans, const AttentionSample& p) {
  for (std::size_t b = 0; b < plans.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      if (plans[a]->order != plans[b]->order) continue;
      const testing::AttentionAnswer one = solve(*plans[a], p), other = solve(*plans[b], p);
      for (const testing::AttentionAnswerPart& part : testing::kAttentionAnswerParts) {
        const Tensor &x = one.*part.tensor, &y = other.*part.tensor;
        if (!x.is_empty() && !testing::same_bits(x, y)) {
          return std::string(plans[a]->name) + " and " + std::string(plans[b]->name) + " in " + part.name;
        }
      }
    }
  return {};
}

TEST(AttentionPlanChoice, PlansOfOneOrderAgreeToTheBit) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    testing::Choices choices(seed);
    const AttentionSample p = testing::random_attention_sample(choices);
    EXPECT_EQ(disagreement(testing::plans_for(p), p), "") << "seed " << seed << ": " << describe(p);
  }
}

// Short sentences go through a thread's hands one after another, and the mask may say the same of them or not.
TEST(AttentionPlanChoice, ShortSentencesUnderEveryMaskHaveTheBitsOfTheFusedPlan) {
  const auto by_name = [](std::string_view name) {
    const auto plans = attention_plans();
    return &*std::find_if(plans.begin(), plans.end(), [&](const AttentionPlan& plan) { return plan.name == name; });
  };
  for (const auto& [queries, keys] : {std::pair<Index, Index>{5, 0}, {1, 3}, {14, 14}, {24, 24}, {33, 50}, {64, 64}}) {
    AttentionSample p = testing::plain_problem(
        {.batch = 3, .heads = 4, .key_heads = 2, .queries = queries, .keys = keys, .width = 20, .value_width = 35});
    const Tensor lengths = Tensor::from(std::vector<Index>{keys / 3, keys, keys / 2}, {3});
    const Tensor centre = Tensor::zeros(DType::f32, {3, 4, queries});
    for (Index i = 0; i < centre.size(); ++i) centre.data<float>()[i] = static_cast<float>(i % 23);
    for (const Mask& mask :
         {Mask(), Mask::causal(), Mask::key_lengths(lengths), Mask::causal() & Mask::key_lengths(lengths),
          Mask::around(centre, 3), Mask::boolean(testing::random_booleans({3, 4, queries, keys}, 5))})
      for (const double dropout : {0.0, 0.2}) {
        p.spec.mask = mask, p.spec.dropout.probability = dropout;
        EXPECT_EQ(disagreement({by_name("fused"), by_name("short")}, p), "") << describe(p);
      }
  }
}

// The last plan's gradients, each a bit too large.
void spoiled_backward(const AttentionProblem& problem, const AttentionSaved& saved, const AttentionGrad& grad,
                      Workspace& workspace) {
  attention_plans().back().backward(problem, saved, grad, workspace);
  grad.dq.at<float>({0, 0, 0, 0}) *= 1.0000002f;
}

TEST(AttentionPlanChoice, AnotherLastBitOfOneGradientIsNoticed) {
  const AttentionSample p = testing::plain_problem({.queries = 3, .keys = 4});
  AttentionPlan same = attention_plans().back(), spoiled = same;
  spoiled.backward = spoiled_backward, spoiled.name = "spoiled";
  EXPECT_EQ(disagreement({&attention_plans().back(), &same}, p), "");
  EXPECT_EQ(disagreement({&attention_plans().back(), &spoiled}, p), "reference and spoiled in dq");
}

}  // namespace
}  // namespace heed
