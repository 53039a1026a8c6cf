// Blocks of few bits read as f32, many numbers at a time.
#pragma once

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/tensor/blocks.h"

namespace heed::kernels {

// As heed::widen_blocks, whose bits it has: products of a scale and a number are exact, so that it makes no difference
// whether one is rounded before the sum.
void widen(BlockType type, const unsigned char* blocks, Index count, float* to);

}  // namespace heed::kernels
