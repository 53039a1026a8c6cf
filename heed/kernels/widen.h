// 16-bit storage read as f32, many numbers at a time. Exact.
#pragma once

#include "heed/base/float16.h"
#include "heed/base/index.h"

namespace heed::kernels {

// to[i] = from[i] for i < n, as to_float() does.
void widen(const BFloat16* from, Index n, float* to);
void widen(const Float16* from, Index n, float* to);

}  // namespace heed::kernels
