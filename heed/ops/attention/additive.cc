// The plan "additive": v_a . tanh(q + k) in f32, fused, so that [Lq, Lk, D] is never built; backward computes the tanh
// again.
#include "heed/kernels/attention_additive.h"
#include "heed/ops/attention/tile.h"

namespace heed {
namespace {

kernels::AdditiveTile additive_tile(const AttentionCase& c, const Tile& tile) {
  return {.rows = tile.rows.size(),
          .keys = tile.keys.size(),
          .width = c.width,
          .stride = tile.stride,
          .q = &c.q.at<float>({tile.b, tile.h, tile.rows.begin}),
          .q_row = c.q.stride[2],
          .k = &c.k.at<float>({tile.b, tile.h / c.group, tile.keys.begin}),
          .k_row = c.k.stride[2],
          .vector = c.spec.score.additive_vector.as<float>()};
}

void products(const AttentionCase& c, const Tile& tile, float* to) {
  kernels::attention_additive_scores(additive_tile(c, tile), to);
}

void gradients(const AttentionCase& c, const Tile& tile, const float* dproducts, const AttentionGrad& grad,
               float* dvector) {
  kernels::AdditiveGradients sums;
  if (grad.dq) sums.dq = &grad.dq.at<float>({tile.b, tile.h, tile.rows.begin}), sums.dq_row = grad.dq.stride[2];
  if (grad.dk)
    sums.dk = &grad.dk.at<float>({tile.b, tile.h / c.group, tile.keys.begin}), sums.dk_row = grad.dk.stride[2];
  sums.dvector = dvector;
  kernels::attention_additive_backward(additive_tile(c, tile), dproducts, sums);
}

constexpr TileScore kAdditive{.scaled = false, .products = products, .gradients = gradients};

std::string refuse(const AttentionCase& c) {
  if (c.dtype != DType::f32) return "it computes in f32 only";
  if (c.spec.score.kind != Score::Kind::additive) return "the score is not additive";
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is not softmax";
  return {};
}

void forward(const AttentionCase& c, const AttentionResult& result, Workspace& workspace) {
  tiled_forward(kAdditive, c, result, workspace);
}

void backward(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace& workspace) {
  tiled_backward(kAdditive, c, saved, grad, workspace);
}

}  // namespace

const AttentionPlan kAdditivePlan{"additive", refuse, forward, backward};

}  // namespace heed
