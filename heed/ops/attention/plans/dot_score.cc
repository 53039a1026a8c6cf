// The dot product as a score, by small matrix products.
#include "heed/ops/attention/plans/tile.h"

namespace heed {

void dot_products(const TileOperands& x, float* to, Index stride, float*) {
  kernels::in_chains({.m = x.rows,
                      .n = x.keys,
                      .k = x.width,
                      .a = {x.q.data, x.q.row},
                      .b = {x.k.data, 1, x.k.row},
                      .c = to,
                      .c_row = stride},
                     kernels::gemm_tile);
}

// dq += dS k and dk += dS^T q, where dS has the scale in it.
void dot_gradients(const TileOperands& x, const float*, const float* dproducts, Index stride, const TileFlows& to) {
  if (to.dq.data != nullptr) {
    kernels::gemm_tile({.m = x.rows,
                        .n = x.width,
                        .k = x.keys,
                        .a = {dproducts, stride},
                        .b = {x.k.data, x.k.row},
                        .c = to.dq.data,
                        .c_row = to.dq.row,
                        .accumulate = true});
  }
  if (to.dk.data != nullptr) {
    kernels::gemm_tile({.m = x.keys,
                        .n = x.width,
                        .k = x.rows,
                        .a = {dproducts, 1, stride},
                        .b = {x.q.data, x.q.row},
                        .c = to.dk.data,
                        .c_row = to.dk.row,
                        .accumulate = true});
  }
}

const TileScore kDotScore{
    .scaled = true, .products = dot_products, .gradients = dot_gradients, .multiplies_rows = true};

}  // namespace heed
