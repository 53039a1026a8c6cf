// Products of a few rows with a weight: a step of decoding, which takes as long as the weight takes to be read.
#pragma once

#include <span>

#include "heed/ops/affine_map.h"
#include "heed/tensor/view.h"

namespace heed {

// Whether multiply_few_rows computes linear's product (operands that linear has accepted): at most 8 rows of f32, and
// weights whose rows are contiguous and not empty.
bool are_few_rows(const ConstView& x, std::span<const AffineMap> maps, const View& y);

// y = x W^T + b with the bits of gemm over the widened weight, which is read once: blocks are widened in scratch, a few
// outputs at a time, all others in registers.
void multiply_few_rows(const ConstView& x, std::span<const AffineMap> maps, const View& y);

}  // namespace heed
