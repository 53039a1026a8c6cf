// A shape that a file claims, checked before anything is allocated for it.
#pragma once

#include <span>
#include <string_view>

#include "heed/base/index.h"
#include "heed/tensor/dtype.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Returns the bytes of an array of this shape. Throws heed::Error that begins with `where` for a rank beyond max_rank,
// a negative extent, or extents whose product (zeros left out) is more than a machine holds.
Index checked_bytes(DType dtype, std::span<const Index> shape, std::string_view where, Index max_rank = kMaxRank);

// A contiguous tensor of a shape that checked_bytes accepted; its elements are not initialised.
Tensor tensor_of_shape(DType dtype, std::span<const Index> shape);

// Throws heed::Error that begins with `where` if a byte of a boolean tensor is neither 0 nor 1, which C++ has no bool
// for.
void check_booleans(const Tensor& tensor, std::string_view where);

}  // namespace heed
