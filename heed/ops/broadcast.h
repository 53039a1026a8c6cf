// Repeating a view along axes, and its transpose, summing over them.
//
//   broadcast(row, y);                             // [D] or [1, D] into each row of [R, D]
//   sum_to_shape(dy, drow);                        // its gradient: the sum of the rows
//
// Shapes are aligned at their last axes, as NumPy's are: each extent of the smaller one is that of the larger, or 1,
// and axes that it lacks count as 1. Views are contiguous, f32 or f64, of one type. Results are overwritten, and are
// the same bits for any thread count. Both throw heed::Error for other operands, and a NaN stays one.
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// Whether shapes fit as above.
bool broadcasts_to(const ConstView& small, const ConstView& large);

// y = x, repeated.
void broadcast(ConstView x, View y);

// Each element of y is the sum of the elements of x that broadcast would copy it to, in double and in row-major order;
// of none, 0.
void sum_to_shape(ConstView x, View y);

}  // namespace heed
