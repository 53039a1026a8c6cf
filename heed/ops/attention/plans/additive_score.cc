// The additive score: v_a . tanh(q + k), fused, so that [Lq, Lk, D] is never built. Rows are mapped to their powers.
#include "heed/kernels/attention_additive.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

kernels::AdditiveTile additive_tile(const TileOperands& x, Index stride) {
  return {.rows = x.rows,
          .keys = x.keys,
          .width = x.width,
          .stride = stride,
          .q = {x.given_q.data, x.given_q.row, x.q.data, x.q.row},
          .k = {x.given_k.data, x.given_k.row, x.k.data, x.k.row},
          .vector = x.vector};
}

void products(const TileOperands& x, float* to, Index stride, float* kept) {
  kernels::attention_additive_scores(additive_tile(x, stride), to, kept);
}

void gradients(const TileOperands& x, const float* kept, const float* dproducts, Index stride, const TileFlows& to) {
  const kernels::AdditiveGradients sums{
      .dq = to.dq.data, .dq_row = to.dq.row, .dk = to.dk.data, .dk_row = to.dk.row, .dvector = to.dvector};
  kernels::attention_additive_backward(additive_tile(x, stride), kept, dproducts, sums);
}

void powers(Index rows, Index width, FloatRows x, FloatRows y) {
  kernels::additive_powers(rows, width, x.data, x.row, y.data, y.row);
}

}  // namespace

const TileScore kAdditiveScore{.scaled = false,
                               .products = products,
                               .gradients = gradients,
                               .strip = KeptStrip{.rows = 4, .keys = 16, .floats = kernels::additive_kept_width},
                               .map = powers};

}  // namespace heed
