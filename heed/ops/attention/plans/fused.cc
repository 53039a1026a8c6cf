// The plan "fused": products of rows under a softmax or a sigmoid, which most calls are.
#include "heed/ops/attention/plans/fused.h"

#include "heed/ops/attention/plans/tile.h"

namespace heed {

const kernels::LaneNormaliser* lane_normaliser(Normaliser::Kind kind) {
  if (kind == Normaliser::Kind::softmax) return &kernels::kSoftmaxLanes;
  return kind == Normaliser::Kind::sigmoid ? &kernels::kSigmoidLanes : nullptr;
}

namespace {

std::string_view why_not(const AttentionProblem& c, const AttentionTask&) {
  if (c.dtype == DType::f64) return "it computes in f32";
  const TileScore* score = tile_score(c.spec.score.kind);
  if (score == nullptr || !score->multiplies_rows) return "the score is no product of rows";
  if (lane_normaliser(c.spec.normaliser.kind) == nullptr) return "the normaliser needs a second look at the scores";
  return {};
}

// Lanes without a row work all the same.
double cost(const AttentionProblem& c) {
  const Index lanes = (c.queries + kernels::kLaneUnit - 1) / kernels::kLaneUnit * kernels::kLaneUnit;
  return c.queries == 0 ? 0 : pair_cost(c) * (static_cast<double>(lanes) / static_cast<double>(c.queries));
}

}  // namespace

const AttentionPlan kFusedPlan{"fused", SumOrder::blocks, why_not, cost, fused_forward, fused_backward, fused_weights};

}  // namespace heed
