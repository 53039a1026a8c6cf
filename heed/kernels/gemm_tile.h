// A small matrix product, f32, by plain SIMD: what the GEMM library is too slow to start for, and the fallback where
// that library would not keep a row's bits.
#pragma once

#include <algorithm>

#include "heed/base/index.h"

namespace heed::kernels {

// The longest chain of multiply-adds that one call makes.
inline constexpr Index kGemmTileDepth = 512;

// A matrix that is read: [i, j] is data[i * row + j * col]. Strides are in elements, of any sign.
struct Matrix {
  const float* data;
  Index row;
  Index col = 1;

  float operator()(Index i, Index j) const { return data[i * row + j * col]; }
  // The matrix whose first element is [i, j] of this one.
  Matrix from(Index i, Index j) const { return {data + i * row + j * col, row, col}; }
};

// c[i, j] = alpha * sum_p a[i, p] b[p, j]  (+ bias[j] or + c[i, j]), 0 <= p < k <= kGemmTileDepth.
// c is unit-strided along j and overlaps neither a nor b.
struct GemmTile {
  Index m, n, k;
  Matrix a, b;  // [m, k] and [k, n]
  float* c;
  Index c_row;                  // c[i, j] = c[i * c_row + j]
  const float* bias = nullptr;  // [n], or null
  float alpha = 1;
  const float* row_alpha = nullptr;  // [m], or null: row i has row_alpha[i] in place of alpha
  bool accumulate = false;           // add c; not together with bias
  const float* decay = nullptr;      // [n], or null: c[i, j] is multiplied by decay[j] before it is added to
};

// Each sum is one chain acc = fma(a, b, acc) over ascending p from 0, whatever m, n and the strides are: a row's bits
// depend on that row, on b and on nothing else. Then: times alpha (rounded), plus bias or c (rounded; c times decay is
// not rounded before, where multiply-adds are fused).
void gemm_tile(const GemmTile& tile);

// A product of any depth by `chain`, a function of a GemmTile: kGemmTileDepth at a time, each part added to c in order.
template <typename Chain>
void in_chains(GemmTile tile, const Chain& chain) {
  for (Index left = tile.k;;) {
    tile.k = std::min(left, kGemmTileDepth);
    chain(tile);
    left -= tile.k;
    if (left == 0) return;
    tile.a = tile.a.from(0, tile.k), tile.b = tile.b.from(tile.k, 0);
    tile.accumulate = true, tile.bias = nullptr;
  }
}

// Whether the chain's step is rounded once (a fused multiply-add) on the active target.
bool gemm_tile_is_fused();

}  // namespace heed::kernels
