// Tensors that a file describes and fills: made, and their elements checked.
#pragma once

#include <span>
#include <string_view>

#include "heed/base/index.h"
#include "heed/tensor/dtype.h"
#include "heed/tensor/tensor.h"

namespace heed {

// A contiguous tensor of a shape that checked_bytes accepted; its elements are not initialised.
Tensor tensor_of_shape(DType dtype, std::span<const Index> shape);

// Throws heed::Error that begins with `where` if a byte of a boolean tensor is neither 0 nor 1, which C++ has no bool
// for.
void check_booleans(const Tensor& tensor, std::string_view where);

// Throws heed::Error that begins with `where` and names the first element of a contiguous floating tensor that is
// infinite or NaN: weights with one give a model whose every answer is NaN. Cost: one pass.
void check_finite(const Tensor& tensor, std::string_view where);

}  // namespace heed
