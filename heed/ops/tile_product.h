// Products of rows with a weight of bf16 by AMX's tiles, where the processor has them.
#pragma once

#include <span>

#include "heed/ops/affine_map.h"
#include "heed/tensor/view.h"

namespace heed {

// Whether multiply_in_tiles computes linear's product (operands that linear has accepted): weights all of bf16, none
// empty, on a machine with AMX.
bool are_of_tiles(std::span<const AffineMap> maps);

// y = x W^T + b, where a number of x is three of bf16 whose sum it is, so that all products are exact. They are summed
// in f32 (kernels/tile_products.h), and bias is added last. Magnitudes below 2^-126 count as zero.
void multiply_in_tiles(const ConstView& x, std::span<const AffineMap> maps, const View& y);

}  // namespace heed
