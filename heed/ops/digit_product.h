// Products of rows with a weight of int8 or of ggml's blocks in whole numbers, where the processor has a unit for them.
#pragma once

#include "heed/ops/weight.h"
#include "heed/tensor/view.h"

namespace heed {

// Whether multiply_digits computes linear's product (operands that linear has accepted): a weight of int8 or of blocks
// that is not empty, on a machine with AVX512-VNNI.
bool are_digits(const Weight& weight);

// y = x W^T + b, where a row of x is rounded to 24 bits of its largest magnitude. Its sum of products with the integers
// of int8 is exact, with those of blocks exact for each four (kernels/block_rows.h). A row with a number that is not
// finite gives NaN. `bias` may be empty.
void multiply_digits(const ConstView& x, const Weight& weight, const ConstView& bias, const View& y);

}  // namespace heed
