#include "heed/ops/attention/plans/short.h"

#include "heed/base/parallel.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/lane_tile.h"

namespace heed {

bool is_short(const AttentionProblem& c) { return c.queries <= kTileRows && c.keys <= kernels::kLaneKeys; }

Index short_grain(const AttentionProblem& c) {
  constexpr double kEnough = 1 << 18;  // multiply-adds
  return grain_of(static_cast<double>(c.group * c.queries * c.keys) * static_cast<double>(c.width + c.value_width),
                  kEnough);
}

namespace {

std::string_view short_why_not(const AttentionProblem& c, const AttentionTask& task) {
  if (c.spec.score.kind != Score::Kind::dot) return "the score is no dot product";
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is no softmax";
  if (c.dtype != DType::f32 || c.k.view().dtype != DType::f32 || (c.v && c.v.view().dtype != DType::f32)) {
    return "it reads numbers of f32";
  }
  if (c.k.paged()) return "the keys lie in pages";
  return kFusedPlan.why_not(c, task);
}

// Measured: from five queries on, and from fewer where keys are few, it takes less time than "decode", which has few
// lanes to fill.
double short_cost(const AttentionProblem& c) { return kFusedPlan.cost(c) * (is_short(c) ? 0.5 : 1); }

void short_weights(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                   const View& weights, Workspace& workspace) {
  fused_weights(c, LaneNumbers::f32, row_stat, chosen, weights, workspace);
}

}  // namespace

const AttentionPlan kShortPlan{"short",       SumOrder::blocks, short_why_not, short_cost,
                               short_forward, short_backward,   short_weights};

}  // namespace heed
