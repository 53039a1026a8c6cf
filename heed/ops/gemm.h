// The matrix product.
//
//   gemm(x, transpose(w, 0, 1), y);                                       // y = x w^T
//   gemm(transpose(dy, 0, 1), x, dw, {.accumulate = true});               // dw += dy^T x
//   gemm(q, transpose(k, 2, 3), scores, {.alpha = 1 / std::sqrt(d)});     // for every batch element and head
#pragma once

#include "heed/tensor/view.h"

namespace heed {

struct GemmOptions {
  bool accumulate = false;  // add to c instead of overwriting it
  double alpha = 1;
  ConstView bias = {};  // [N], added to every row; empty for none; not together with accumulate
};

// c = alpha * a b (+ c, or + bias).
//
// a [M, K], b [K, N], c [M, N], or the same behind one or two equal batch axes ([N1, M, K] or [N1, N2, M, K], ...).
// Strides may be anything for a and b, so transposes, heads of a packed projection and broadcast batches (stride 0)
// need no copy; c needs unit stride along one of its last two axes (the last one, if there is a bias) and must not
// overlap a or b. K = 0 gives zeros.
//
// f32: every element is computed as sums over blocks of 512 of the K axis, each one chain of fused multiply-adds in
// ascending order from 0; alpha times each block's sum is added to what is there. The bits of a row of c therefore
// depend on that row of a, on b and (with accumulate) on that row of c alone: not on M, the batch, the strides or the
// thread count. The GEMM library (oneDNN) does the work where it is known to compute just this (AVX-512); elsewhere,
// and for products too small for it, a kernel of heed's own does. f64: the plain sum, for references and gradient
// checks.
//
// Throws heed::Error where ranks, shapes or types disagree, c's layout is not one of the above, or an operand is none
// (see tensor/operands.h: as everywhere in ops).
void gemm(ConstView a, ConstView b, View c, const GemmOptions& options = {});

}  // namespace heed
