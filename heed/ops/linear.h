// The affine map of rows.
//
//   linear(x, weight, bias, y);                                      // y = x weight^T + bias
//   linear_backward(x, weight, dy, dx, dweight, dbias);
#pragma once

#include <span>

#include "heed/ops/affine_map.h"

namespace heed {

// y[r, o] = sum_i x[r, i] weight[o, i] + bias[o].
// x [R, In], weight [Out, In], bias [Out] or empty, y [R, Out]; all f32 or all f64; x, weight and y as gemm takes them.
// A narrow weight, with f32 elsewhere, is widened in scratch of each thread: 256 KB of outputs, or 16, at a time;
// the bits are those of the same weight widened as a whole. With AVX512-VNNI a weight of int8 or of blocks is not: a
// row of x is rounded to 24 bits of its largest magnitude and multiplied with the weight's integers, with sums that are
// exact (of blocks: of four); one with a number that is not finite gives NaN. With AMX a weight of bf16 is not, either:
// a row of x becomes three of bf16, whose sum it is, and each product is exact (kernels/tile_products.h). A row of y
// depends, to the bit, on that row of x alone.
// Throws heed::Error where shapes or types disagree.
void linear(ConstView x, const Weight& weight, ConstView bias, View y);
// The same for several maps of the same rows, a map's outputs after those of the one before it in y: to the bit as by
// itself, and few rows in one pass over all weights. Throws heed::Error for no map, too.
void linear(ConstView x, std::span<const AffineMap> maps, View y);

// dx = dy weight (overwritten), dweight += dy^T x, dbias += sum over rows of dy (both accumulated); an empty view is
// not wanted. x may be empty where dweight is, weight where dx is. The same bits for any thread count. Throws as linear
// does. A narrow weight has no gradient, and gives none.
void linear_backward(ConstView x, ConstView weight, ConstView dy, View dx, View dweight, View dbias);

}  // namespace heed
