// The negative squared distance as a score, by differences of the rows.
#include <algorithm>

#include "heed/kernels/attention_distance.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

void products(const TileOperands& x, float* to, Index stride) {
  kernels::GemmTile tile{.m = x.rows,
                         .n = x.keys,
                         .k = 0,
                         .a = x.q.data,
                         .a_row = x.q.row,
                         .a_col = 1,
                         .b = x.k.data,
                         .b_row = 1,
                         .b_col = x.k.row,
                         .c = to,
                         .c_row = stride,
                         .bias = nullptr,
                         .alpha = -1,
                         .accumulate = false};
  for (Index d = 0; d < x.width; d += kernels::kGemmTileDepth) {
    tile.k = std::min(x.width - d, kernels::kGemmTileDepth);
    tile.a = x.q.data + d, tile.b = x.k.data + d;
    tile.accumulate = d > 0;
    kernels::distance_tile(tile);
  }
}

// dq += 2 sum_j dS_j (k_j - q) and dk += 2 sum_i dS_i (q_i - k), where dS has the scale in it.
void gradients(const TileOperands& x, const float* dproducts, Index stride, const TileFlows& to) {
  if (to.dq.data != nullptr) {
    kernels::difference_tile({.m = x.rows,
                              .n = x.width,
                              .k = x.keys,
                              .a = dproducts,
                              .a_row = stride,
                              .a_col = 1,
                              .b = x.k.data,
                              .b_row = x.k.row,
                              .from = x.q.data,
                              .from_row = x.q.row,
                              .c = to.dq.data,
                              .c_row = to.dq.row,
                              .alpha = 2});
  }
  if (to.dk.data != nullptr) {
    kernels::difference_tile({.m = x.keys,
                              .n = x.width,
                              .k = x.rows,
                              .a = dproducts,
                              .a_row = 1,
                              .a_col = stride,
                              .b = x.q.data,
                              .b_row = x.q.row,
                              .from = x.k.data,
                              .from_row = x.k.row,
                              .c = to.dk.data,
                              .c_row = to.dk.row,
                              .alpha = 2});
  }
}

}  // namespace

const TileScore kDistanceScore{.scaled = true, .products = products, .gradients = gradients};

}  // namespace heed
