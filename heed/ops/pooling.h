// One vector for a sequence: the mean or the greatest of its positions, padding left out.
//
//   mean_pool(x, padding, y);                      // [B, L, D] to [B, D]
//   max_pool(x, padding, y, at);
//
// x [B, L, D] and y [B, D] are contiguous, f32 or f64. padding is boolean [B, L], contiguous, true where a position is
// left out (PyTorch's key_padding_mask), or empty: none is. What is left out, even a NaN, has no effect; a NaN
// elsewhere gives a NaN. A sequence of which nothing is left has the result 0, and no gradient. Gradients are
// overwritten. All throw heed::Error for other operands; results are the same bits for any thread count.
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// y = the mean of the positions, summed in double in their order.
void mean_pool(ConstView x, ConstView padding, View y);
void mean_pool_backward(ConstView padding, ConstView dy, View dx);

// y_d = the greatest x_ld of the positions l, and at_d, i32 [B, D], the first such l; -1 where there is none.
void max_pool(ConstView x, ConstView padding, View y, View at);
// dx_ld = dy_d where l is at_d, else 0. Throws heed::Error for an `at` outside [-1, L) too.
void max_pool_backward(ConstView at, ConstView dy, View dx);

}  // namespace heed
