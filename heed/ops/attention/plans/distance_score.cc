// The negative squared distance as a score, by differences of the rows.
#include "heed/kernels/attention_distance.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

void distance_products(const TileOperands& x, float* to, Index stride, float*) {
  kernels::in_chains({.m = x.rows,
                      .n = x.keys,
                      .k = x.width,
                      .a = {x.q.data, x.q.row},
                      .b = {x.k.data, 1, x.k.row},
                      .c = to,
                      .c_row = stride,
                      .alpha = -1},
                     kernels::distance_tile);
}

// dq += 2 sum_j dS_j (k_j - q) and dk += 2 sum_i dS_i (q_i - k), where dS has the scale in it.
void distance_gradients(const TileOperands& x, const float*, const float* dproducts, Index stride,
                        const TileFlows& to) {
  if (to.dq.data != nullptr) {
    kernels::difference_tile({.m = x.rows,
                              .n = x.width,
                              .k = x.keys,
                              .a = {dproducts, stride},
                              .b = {x.k.data, x.k.row},
                              .from = {x.q.data, x.q.row},
                              .c = to.dq.data,
                              .c_row = to.dq.row,
                              .alpha = 2});
  }
  if (to.dk.data != nullptr) {
    kernels::difference_tile({.m = x.keys,
                              .n = x.width,
                              .k = x.rows,
                              .a = {dproducts, 1, stride},
                              .b = {x.q.data, x.q.row},
                              .from = {x.k.data, x.k.row},
                              .c = to.dk.data,
                              .c_row = to.dk.row,
                              .alpha = 2});
  }
}

}  // namespace

const TileScore kDistanceScore{.scaled = true, .products = distance_products, .gradients = distance_gradients};

}  // namespace heed
