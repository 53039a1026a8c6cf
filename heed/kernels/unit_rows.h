// Rows of length one, for the cosine of two rows, and the gradient through the lengths.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// The least length that a row is divided by.
inline constexpr double kLeastLength = 1e-8;

// y[r] = x[r] / max(|x[r]|, kLeastLength), sums and quotients in double. Unit stride along a row; y may be x.
void unit_rows(Index rows, Index width, const float* x, Index x_row, float* y, Index y_row);

// Replaces dy, the gradient of unit_rows' y, by that of x: (dy - y (y . dy)) / |x|, or dy / kLeastLength for a shorter
// row. A row whose dy is all zero stays zero, be x NaN.
void unit_rows_backward(Index rows, Index width, const float* x, Index x_row, float* dy, Index dy_row);

}  // namespace heed::kernels
