// The plan "fused": products of rows under a softmax or a sigmoid, which most calls are.
#include "heed/ops/attention/plans/fused.h"

#include "heed/kernels/pair_unit.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {

const kernels::LaneNormaliser* lane_normaliser(Normaliser::Kind kind) {
  if (kind == Normaliser::Kind::softmax) return &kernels::kSoftmaxLanes;
  return kind == Normaliser::Kind::sigmoid ? &kernels::kSigmoidLanes : nullptr;
}

namespace {

std::string_view fused_why_not(const AttentionProblem& c, const AttentionTask&) {
  if (c.dtype == DType::f64) return "it computes in f32";
  const TileScore* score = tile_score(c.spec.score.kind);
  if (score == nullptr || !score->multiplies_rows) return "the score is no product of rows";
  if (lane_normaliser(c.spec.normaliser.kind) == nullptr) return "the normaliser needs a second look at the scores";
  return {};
}

// Lanes without a row work all the same.
double fused_cost(const AttentionProblem& c) {
  const Index lanes = round_up(c.queries, kernels::kLaneUnit);
  return c.queries == 0 ? 0 : pair_cost(c) * (static_cast<double>(lanes) / static_cast<double>(c.queries));
}

template <LaneNumbers kNumbers>
void fused_forward_in(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  fused_forward(c, kNumbers, result, workspace);
}

template <LaneNumbers kNumbers>
void fused_backward_in(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                       Workspace& workspace) {
  fused_backward(c, kNumbers, saved, grad, workspace);
}

template <LaneNumbers kNumbers>
void fused_weights_in(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                      const View& weights, Workspace& workspace) {
  fused_weights(c, kNumbers, row_stat, chosen, weights, workspace);
}

std::string_view why_not_bf16(const AttentionProblem& c, const AttentionTask& task) {
  const bool all =
      c.dtype == DType::bf16 && c.k.view().dtype == DType::bf16 && (!c.v || c.v.view().dtype == DType::bf16);
  if (!all) return "queries, keys and values are not all bf16";
  if (c.spec.score.kind != Score::Kind::dot) return "the score is no dot product";
  if (kernels::pair_unit() == nullptr) return "no unit of this processor multiplies bf16 faster than f32";
  return fused_why_not(c, task);
}

}  // namespace

const AttentionPlan kFusedPlan{"fused",
                               SumOrder::blocks,
                               fused_why_not,
                               fused_cost,
                               fused_forward_in<LaneNumbers::f32>,
                               fused_backward_in<LaneNumbers::f32>,
                               fused_weights_in<LaneNumbers::f32>};

const AttentionPlan kFusedBf16Plan{"fused-bf16",
                                   SumOrder::bf16,
                                   why_not_bf16,
                                   fused_cost,
                                   fused_forward_in<LaneNumbers::bf16>,
                                   fused_backward_in<LaneNumbers::bf16>,
                                   fused_weights_in<LaneNumbers::bf16>};

}  // namespace heed
