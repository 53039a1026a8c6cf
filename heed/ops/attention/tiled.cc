// The plan "tiled": dot scores in f32, by small matrix products over tiles of rows.
#include "heed/ops/attention/tile.h"

namespace heed {
namespace {

void products(const AttentionCase& c, const Tile& tile, float* to) {
  deep_gemm_tile({.m = tile.rows.size(),
                  .n = tile.keys.size(),
                  .k = c.width,
                  .a = &c.q.at<float>({tile.b, tile.h, tile.rows.begin}),
                  .a_row = c.q.stride[2],
                  .a_col = 1,
                  .b = &c.k.at<float>({tile.b, tile.h / c.group, tile.keys.begin}),
                  .b_row = 1,
                  .b_col = c.k.stride[2],
                  .c = to,
                  .c_row = tile.stride,
                  .bias = nullptr,
                  .alpha = 1,
                  .accumulate = false});
}

// dq += dS k and dk += dS^T q, where dS has the scale in it.
void gradients(const AttentionCase& c, const Tile& tile, const float* dproducts, const AttentionGrad& grad, float*) {
  if (grad.dq) {
    for_key_blocks(tile.keys, [&](Range keys) {
      kernels::gemm_tile({.m = tile.rows.size(),
                          .n = c.width,
                          .k = keys.size(),
                          .a = dproducts + keys.begin - tile.keys.begin,
                          .a_row = tile.stride,
                          .a_col = 1,
                          .b = &c.k.at<float>({tile.b, tile.h / c.group, keys.begin}),
                          .b_row = c.k.stride[2],
                          .b_col = 1,
                          .c = &grad.dq.at<float>({tile.b, tile.h, tile.rows.begin}),
                          .c_row = grad.dq.stride[2],
                          .bias = nullptr,
                          .alpha = 1,
                          .accumulate = true});
    });
  }
  if (grad.dk) {
    kernels::gemm_tile({.m = tile.keys.size(),
                        .n = c.width,
                        .k = tile.rows.size(),
                        .a = dproducts,
                        .a_row = 1,
                        .a_col = tile.stride,
                        .b = &c.q.at<float>({tile.b, tile.h, tile.rows.begin}),
                        .b_row = c.q.stride[2],
                        .b_col = 1,
                        .c = &grad.dk.at<float>({tile.b, tile.h / c.group, tile.keys.begin}),
                        .c_row = grad.dk.stride[2],
                        .bias = nullptr,
                        .alpha = 1,
                        .accumulate = true});
  }
}

constexpr TileScore kDot{.scaled = true, .products = products, .gradients = gradients};

std::string refuse(const AttentionCase& c) {
  if (c.dtype != DType::f32) return "it computes in f32 only";
  if (c.spec.score.kind != Score::Kind::dot) return "the score is not a dot product";
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is not softmax";
  return {};
}

void forward(const AttentionCase& c, const AttentionResult& result, Workspace& workspace) {
  tiled_forward(kDot, c, result, workspace);
}

void backward(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace& workspace) {
  tiled_backward(kDot, c, saved, grad, workspace);
}

}  // namespace

const AttentionPlan kTiledPlan{"tiled", refuse, forward, backward};

}  // namespace heed
