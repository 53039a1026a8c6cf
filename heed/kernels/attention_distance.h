// The squared distance as a score (Kim et al. 2021), and its gradients: sums of differences, for |q|^2 + |k|^2 -
// 2 q . k cancels where q and k are near each other.
#pragma once

#include "heed/kernels/gemm_tile.h"

namespace heed::kernels {

// c[i, j] = alpha * sum_p (a[i, p] - b[p, j])^2  (+ bias[j] or + c[i, j]), in the chains of gemm_tile().
void distance_tile(const GemmTile& tile);

// c[i, d] += alpha * sum_p a[i, p] (b[p, d] - from[i, d]), 0 <= p < k <= kGemmTileDepth, 0 <= d < n. b, from and c are
// unit-strided along d.
struct DifferenceTile {
  Index m, n, k;
  Matrix a, b, from;
  float* c;
  Index c_row;
  float alpha;
};

// Each sum is one chain over ascending p from 0.
void difference_tile(const DifferenceTile& tile);

}  // namespace heed::kernels
