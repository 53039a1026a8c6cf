// Which plan computes a call, and how one is forced.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::AttentionSample;
using testing::refusal;

// Sets HEED_PLAN while it lives.
struct ForcedPlan {
  explicit ForcedPlan(const char* name) { setenv("HEED_PLAN", name, 1); }
  ~ForcedPlan() { unsetenv("HEED_PLAN"); }
};

TEST(AttentionChoice, HeedPlanForcesAPlanAndExplainsARefusal) {
  const AttentionSample p = testing::plain_problem({.queries = 3, .keys = 4});
  const Tensor out = Tensor::zeros(DType::f32, {1, 1, 3, 8});
  Workspace workspace;
  const auto call = [&] { attention(p.q, p.k, p.v, p.spec, {.out = out}, workspace); };
  EXPECT_EQ(explain(p.q, p.k, p.v, p.spec).substr(0, 15), "short computes ");
  {
    const ForcedPlan forced("reference");
    EXPECT_EQ(refusal(call), "no error");
    EXPECT_EQ(
        explain(p.q, p.k, p.v, p.spec),
        "reference computes q f32 [1, 1, 3, 8], k f32 [1, 1, 4, 8], v f32 [1, 1, 4, 8]; fused-bf16 refused: queries, "
        "keys and values are not all bf16; decode-bf16 refused: queries, keys and values are not all bf16; "
        "decode-int8 refused: keys and values are not all int8; fused was passed over by HEED_PLAN; short was passed "
        "over by HEED_PLAN; decode was passed over by HEED_PLAN; tiled was passed over by HEED_PLAN; linear refused: "
        "the score has no feature map");
  }
  {
    const ForcedPlan forced("linear");
    EXPECT_EQ(refusal(call), "attention: HEED_PLAN=linear cannot compute this call: the score has no feature map");
  }
}

// Also by those that would not come to choose a plan.
TEST(AttentionChoice, EveryCallRefusesANameThatIsNoPlan) {
  const AttentionSample p = testing::plain_problem({.queries = 3, .keys = 4});
  const Tensor out = Tensor::zeros(DType::f32, {1, 1, 3, 8}), row_stat = Tensor::zeros(DType::f32, {1, 1, 3});
  const Tensor weights = Tensor::zeros(DType::f32, {1, 1, 3, 4});
  const Tensor nothing = Tensor::zeros(DType::f32, {1, 1, 0, 8}), no_offsets = Tensor::zeros(DType::i32, {1});
  Workspace workspace;
  const ForcedPlan forced("fastest");
  const std::string expected = "attention: HEED_PLAN is 'fastest', but the plans are ";
  const auto refused = [&](const auto& call) { return refusal(call).starts_with(expected); };
  EXPECT_TRUE(refused([&] { attention(p.q, p.k, p.v, p.spec, {.out = out}, workspace); }));
  EXPECT_TRUE(refused([&] {
    attention_backward(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = row_stat, .dout = out}, {}, workspace);
  }));
  EXPECT_TRUE(refused([&] { attention_weights(p.q, p.k, p.spec, row_stat, weights, workspace); }));
  EXPECT_TRUE(refused([&] { explain(p.q, p.k, p.v, p.spec); }));
  const AttentionSpec packed{.sequences = {.query_offsets = no_offsets, .key_offsets = no_offsets}};
  EXPECT_TRUE(refused([&] { attention(nothing, nothing, nothing, packed, {.out = nothing}, workspace); }));
}

// So that a workflow under HEED_PLAN can look at what it computed.
TEST(AttentionChoice, TheWeightsAloneGoThroughTheForcedPlan) {
  const AttentionSample p = testing::plain_problem({.queries = 3, .keys = 4});
  const Tensor out = Tensor::zeros(DType::f32, {1, 1, 3, 8}), row_stat = Tensor::zeros(DType::f32, {1, 1, 3});
  const Tensor weights = Tensor::zeros(DType::f32, {1, 1, 3, 4});
  Workspace workspace;
  attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = row_stat}, workspace);
  const auto call = [&] { attention_weights(p.q, p.k, p.spec, row_stat, weights, workspace); };
  for (const char* name : {"fused", "short", "decode", "tiled", "reference"}) {
    const ForcedPlan forced(name);
    EXPECT_EQ(refusal(call), "no error") << name;
  }
  const ForcedPlan forced("linear");
  EXPECT_EQ(refusal(call), "attention: HEED_PLAN=linear cannot compute this call: the score has no feature map");
}

}  // namespace
}  // namespace heed
