// The plan "fused": a dot product under a softmax, which most calls are.
#include "heed/ops/attention/plans/fused.h"

namespace heed {
namespace {

std::string_view why_not(const AttentionProblem& c, const AttentionTask&) {
  if (c.dtype == DType::f64) return "it computes in f32";
  if (c.spec.score.kind != Score::Kind::dot) return "the score is no dot product";
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is no softmax";
  return {};
}

}  // namespace

const AttentionPlan kFusedPlan{"fused",       SumOrder::blocks, why_not,      pair_cost,
                               fused_forward, fused_backward,   fused_weights};

}  // namespace heed
