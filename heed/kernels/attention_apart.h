// The passes of attention over keys that lie far apart, so that each of them is the only one that a row sees of its
// block, or the row the only one of its tile that sees the key: the same bits as kSoftmaxLanes and gemm_tile give a
// block of one key, or a tile of one row. A query to each SIMD lane, as in attention_lanes.h, but where columns are
// numbers of a row.
#pragma once

#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/gemm_tile.h"

namespace heed::kernels {

// Replaces a part of the scores [keys, lanes] by weights and takes those into the sums, key after key;
// decays[key, lane] is what the key multiplied older sums by. Of the block only the mask is asked.
void softmax_apart(const AttentionLanes& block, const LanePart& part, float* tile, const LaneSums& rows, float* decays);

// c[i, j] = c[i, j] * decays[p, j] + a[i, p] * b[p, j], p after p from 0 to k - 1: each product is rounded before it is
// added, as a chain of gemm_tile's that has no other.
struct ApartProducts {
  Index m, n, k;
  Matrix a;                       // [m, k]
  const float* b;                 // [k, n], unit-strided along n
  Index b_row;                    // floats from row to row of it
  const float* decays = nullptr;  // as b lies; null: ones
  float* c;                       // [m, n]
  Index c_row;
};
void add_products_apart(const ApartProducts& products);

}  // namespace heed::kernels
