// Rows of floats as i8 with a scale for each: weights, and keys and values in a cache.
//
//   const Tensor values = Tensor::empty(DType::i8, {2, 8, 100, 64}), scales = Tensor::empty(DType::f32, {2, 8, 100});
//   quantise_rows(k, values, scales);                // k [2, 8, 100, 64]
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// values[r, :] = rows[r, :] / scales[r], to nearest (ties to even), scales[r] = max |rows[r, :]| / 127. A row without a
// number large enough for a scale is zeros, with scale 0; one with a number that is not finite has the scale NaN.
// rows of any floating type [..., N], taken as f32, values i8 of the same shape, both with stride 1 along the last
// axis, scales f32 [...]. Throws heed::Error where shapes or types disagree.
void quantise_rows(ConstView rows, View values, View scales);

}  // namespace heed
