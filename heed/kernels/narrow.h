// f32 rounded to narrow storage, many numbers at a time.
#pragma once

#include "heed/base/float16.h"
#include "heed/base/index.h"

namespace heed::kernels {

// to[i] = from[i] for i < n, as to_bfloat16() and to_float16() round it.
void narrow(const float* from, Index n, BFloat16* to);
void narrow(const float* from, Index n, Float16* to);

}  // namespace heed::kernels
