// Products of rows with a weight of int8 or of ggml's blocks in whole numbers, where the processor has a unit for them.
#pragma once

#include <span>

#include "heed/ops/affine_map.h"
#include "heed/tensor/view.h"

namespace heed {

// Whether multiply_digits computes linear's product (operands that linear has accepted): weights all of int8 or all of
// blocks, none empty, on a machine with AVX512-VNNI.
bool are_digits(std::span<const AffineMap> maps);

// y = x W^T + b, where a row of x is rounded to 24 bits of its largest magnitude. Its sum of products with the integers
// of int8 is exact, with those of blocks exact for each four (kernels/block_rows.h). A row with a number that is not
// finite gives NaN.
void multiply_digits(const ConstView& x, std::span<const AffineMap> maps, const View& y);

}  // namespace heed
