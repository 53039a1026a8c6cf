// Products of a few rows with a weight: a step of decoding, which takes as long as the weight takes to be read.
#pragma once

#include "heed/ops/weight.h"
#include "heed/tensor/view.h"

namespace heed {

// Whether multiply_few_rows computes linear's product (operands that linear has accepted): at most 8 rows of f32, and a
// weight whose rows are contiguous and not empty.
bool are_few_rows(const ConstView& x, const Weight& weight, const View& y);

// y = x W^T + b with the bits of gemm over the widened weight, which is read once: blocks are widened in scratch, a few
// outputs at a time, all others in registers. `bias` may be empty.
void multiply_few_rows(const ConstView& x, const Weight& weight, const ConstView& bias, const View& y);

}  // namespace heed
