// The dot product as a score, by small matrix products.
#include "heed/ops/attention/plans/tile.h"

namespace heed {

void dot_products(const TileOperands& x, float* to, Index stride) {
  deep_gemm_tile({.m = x.rows,
                  .n = x.keys,
                  .k = x.width,
                  .a = x.q.data,
                  .a_row = x.q.row,
                  .a_col = 1,
                  .b = x.k.data,
                  .b_row = 1,
                  .b_col = x.k.row,
                  .c = to,
                  .c_row = stride,
                  .bias = nullptr,
                  .alpha = 1,
                  .accumulate = false});
}

// dq += dS k and dk += dS^T q, where dS has the scale in it.
void dot_gradients(const TileOperands& x, const float* dproducts, Index stride, const TileFlows& to) {
  if (to.dq.data != nullptr) {
    kernels::gemm_tile({.m = x.rows,
                        .n = x.width,
                        .k = x.keys,
                        .a = dproducts,
                        .a_row = stride,
                        .a_col = 1,
                        .b = x.k.data,
                        .b_row = x.k.row,
                        .b_col = 1,
                        .c = to.dq.data,
                        .c_row = to.dq.row,
                        .bias = nullptr,
                        .alpha = 1,
                        .accumulate = true});
  }
  if (to.dk.data != nullptr) {
    kernels::gemm_tile({.m = x.keys,
                        .n = x.width,
                        .k = x.rows,
                        .a = dproducts,
                        .a_row = 1,
                        .a_col = stride,
                        .b = x.q.data,
                        .b_row = x.q.row,
                        .b_col = 1,
                        .c = to.dk.data,
                        .c_row = to.dk.row,
                        .bias = nullptr,
                        .alpha = 1,
                        .accumulate = true});
  }
}

const TileScore kDotScore{.scaled = true, .products = dot_products, .gradients = dot_gradients};

}  // namespace heed
