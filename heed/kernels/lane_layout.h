// Rows of floats into SIMD lanes, and back: a row to each lane, by transposing in registers.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

inline constexpr Index kLaneUnit = 16;  // `lanes` is a multiple of it

// to[column * lanes + row] = x[row * x_row + column], with zeros in the lanes from `rows` on. x is unit-strided along
// the columns.
void rows_to_lanes(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes);
// x[row * x_row + column] = from[column * lanes + row] * factor[row]; a null factor is 1.
void lanes_to_rows(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                   Index x_row);

}  // namespace heed::kernels
