// The plan "fused": a dot product or a cosine under a softmax or a sigmoid, which most calls are.
#include "heed/ops/attention/plans/fused.h"

namespace heed {

const kernels::LaneNormaliser* lane_normaliser(Normaliser::Kind kind) {
  if (kind == Normaliser::Kind::softmax) return &kernels::kSoftmaxLanes;
  return kind == Normaliser::Kind::sigmoid ? &kernels::kSigmoidLanes : nullptr;
}

namespace {

std::string_view why_not(const AttentionProblem& c, const AttentionTask&) {
  if (c.dtype == DType::f64) return "it computes in f32";
  const Score::Kind score = c.spec.score.kind;
  if (score != Score::Kind::dot && score != Score::Kind::cosine) return "the score is no product of rows";
  if (lane_normaliser(c.spec.normaliser.kind) == nullptr) return "the normaliser needs a second look at the scores";
  return {};
}

// Lanes without a row work all the same.
double cost(const AttentionProblem& c) {
  const Index lanes = (c.queries + kernels::kLaneUnit - 1) / kernels::kLaneUnit * kernels::kLaneUnit;
  return c.queries == 0 ? 0 : pair_cost(c) * (static_cast<double>(lanes) / static_cast<double>(c.queries));
}

}  // namespace

const AttentionPlan kFusedPlan{"fused",       SumOrder::blocks, why_not,      cost,
                               fused_forward, fused_backward,   fused_weights};

}  // namespace heed
