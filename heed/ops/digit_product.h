// Products of rows with an int8 weight in whole numbers, where the processor has a unit for them.
#pragma once

#include "heed/ops/weight.h"
#include "heed/tensor/view.h"

namespace heed {

// Whether multiply_digits computes linear's product (operands that linear has accepted): an int8 weight with scales
// that is not empty, on a machine with AVX512-VNNI.
bool are_digits(const Weight& weight);

// y = x W^T + b, where a row of x is rounded to 24 bits of its largest magnitude, and the sum of its products with the
// weight's integers is exact: only scaling and adding the bias round. A row with a number that is not finite gives NaN.
// `bias` may be empty.
void multiply_digits(const ConstView& x, const Weight& weight, const ConstView& bias, const View& y);

}  // namespace heed
