// What linear attention does to rows in cache beside its products (gemm_tile.h) and its feature maps (feature_map.h).
// Rows of x and y lie at any distance, x_row and y_row floats apart.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// sums[c] += sum_r weights[r] x[r, c]; null weights are ones. One chain over the rows, which is then added.
void add_rows_to_sums(Index rows, Index columns, const float* x, Index x_row, const float* weights, float* sums);

// sums[r] = sum_c x[r, c]; columns of zeros behind the others change no bit.
void row_sums(Index rows, Index columns, const float* x, Index x_row, float* sums);

// y = x / divisors[r], but x times zero where the divisor is zero. y may be x. Within a unit in the last place and a
// half: but for a divisor near the ends of f32's range, by its reciprocal.
void divide_rows(Index rows, Index columns, const float* x, Index x_row, const float* divisors, float* y, Index y_row);

// x += weights[r] sums[c]; null weights are ones.
void add_sums_to_rows(Index rows, Index columns, const float* sums, const float* weights, float* x, Index x_row);

// x = c < ends[r] ? x + addends[r] : 0; null addends are zeros.
void clear_row_ends(Index rows, Index columns, const Index* ends, const float* addends, float* x, Index x_row);

// Whether no number is NaN or infinite.
bool all_finite(Index count, const float* x);

}  // namespace heed::kernels
