// Narrow storage read as f32, many numbers at a time.
#pragma once

#include <cstdint>

#include "heed/base/float16.h"
#include "heed/base/index.h"

namespace heed::kernels {

// to[i] = from[i] for i < n, as to_float() does: exact.
void widen(const BFloat16* from, Index n, float* to);
void widen(const Float16* from, Index n, float* to);
// to[i] = from[i] * scale, rounded once.
void widen(const std::int8_t* from, float scale, Index n, float* to);

}  // namespace heed::kernels
