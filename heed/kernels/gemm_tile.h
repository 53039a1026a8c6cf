// A small matrix product, f32, by plain SIMD: what the GEMM library is too slow to start for, and the fallback where
// that library would not keep a row's bits.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// The longest chain of multiply-adds that one call makes.
inline constexpr Index kGemmTileDepth = 512;

// c[i, j] = alpha * sum_p a[i, p] b[p, j]  (+ bias[j] or + c[i, j]), 0 <= p < k <= kGemmTileDepth.
// Strides are in elements, of any sign; c is unit-strided along j and overlaps neither a nor b.
struct GemmTile {
  Index m, n, k;
  const float* a;
  Index a_row, a_col;  // a[i, p] = a[i * a_row + p * a_col]
  const float* b;
  Index b_row, b_col;  // b[p, j] = b[p * b_row + j * b_col]
  float* c;
  Index c_row;        // c[i, j] = c[i * c_row + j]
  const float* bias;  // [n], or null
  float alpha;
  bool accumulate;  // add c; not together with bias
};

// Each sum is one chain acc = fma(a, b, acc) over ascending p from 0, whatever m, n and the strides are: a row's bits
// depend on that row, on b and on nothing else. Then: times alpha (rounded), plus bias or c (rounded).
void gemm_tile(const GemmTile& tile);

// Whether the chain's step is rounded once (a fused multiply-add) on the active target.
bool gemm_tile_is_fused();

}  // namespace heed::kernels
