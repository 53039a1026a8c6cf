// Small f64 matrices, written as they look, and heed's products of them: what the worked examples are made of.
//
//   const Tensor x = small_matrix({{1, 0}, {0, 2}}), w = small_matrix({{1, 1}, {0, 1}});
//   const Tensor y = product(x, w);                                  // x w
#pragma once

#include <initializer_list>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

// f64 [R, C]. Throws heed::Error for rows of different lengths.
Tensor small_matrix(std::initializer_list<std::initializer_list<double>> rows);

// a b, by gemm: [M, K] and [K, N] to [M, N].
Tensor product(ConstView a, ConstView b);
// W x for every row x of `rows`, by linear: [R, In] and W [Out, In] to [R, Out].
Tensor apply_to_rows(ConstView weight, ConstView rows);
// [a; b] side by side, by concat: [R, C1], [R, C2], ... to [R, C1 + C2 + ...].
Tensor side_by_side(std::span<const ConstView> parts);
// A matrix [L, D] as attention takes it: [1, 1, L, D], the same memory.
Tensor as_one_head(const Tensor& matrix);
// The matrix [L, D] of head h of batch element b of [B, H, L, D].
ConstView head_of(ConstView heads, Index h, Index b = 0);

}  // namespace heed
