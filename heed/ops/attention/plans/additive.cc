// The plan "additive": v_a . tanh(q + k) with sums in f32, fused, so that [Lq, Lk, D] is never built; backward computes
// the tanh again.
#include "heed/kernels/attention_additive.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

kernels::AdditiveTile additive_tile(const TileOperands& x, Index stride) {
  return {.rows = x.rows,
          .keys = x.keys,
          .width = x.width,
          .stride = stride,
          .q = x.q.data,
          .q_row = x.q.row,
          .k = x.k.data,
          .k_row = x.k.row,
          .vector = x.vector};
}

void products(const TileOperands& x, float* to, Index stride) {
  kernels::attention_additive_scores(additive_tile(x, stride), to);
}

void gradients(const TileOperands& x, const float* dproducts, Index stride, const TileFlows& to) {
  const kernels::AdditiveGradients sums{
      .dq = to.dq.data, .dq_row = to.dq.row, .dk = to.dk.data, .dk_row = to.dk.row, .dvector = to.dvector};
  kernels::attention_additive_backward(additive_tile(x, stride), dproducts, sums);
}

constexpr TileScore kAdditive{.scaled = false, .products = products, .gradients = gradients};

std::string refuse(const AttentionProblem& c) {
  if (c.dtype == DType::f64) return "it computes in f32";
  if (c.spec.score.kind != Score::Kind::additive) return "the score is not additive";
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is not softmax";
  return {};
}

void forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  tiled_forward(kAdditive, c, result, workspace);
}

void backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace& workspace) {
  tiled_backward(kAdditive, c, saved, grad, workspace);
}

}  // namespace

const AttentionPlan kAdditivePlan{"additive", refuse, forward, backward};

}  // namespace heed
