// Arrays of any rank, and their way into heed's views, which have at most four axes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/io/npy.h"

namespace heed::conformance {

using Array = NpyArray;
using Extents = std::vector<Index>;

// "[2, 3]".
std::string text_of(std::span<const Index> shape);

// The product of the extents.
Index count_of(std::span<const Index> shape);

// A new array, its elements not initialised. Throws heed::Error for one beyond what a case may ask for (1 GiB).
Array make_array(DType dtype, const Extents& shape);

// The elements in their own shape, sharing the memory. Throws heed::Error, naming it `name`, for a rank above 4.
Tensor as_tensor(const Array& array, std::string_view name);
// The same elements in another shape, sharing the memory.
Array with_shape(const Tensor& elements, const Extents& shape);

// The elements repeated along the axes where the array has none or extent 1 (numpy's rule). Throws heed::Error where
// the shapes do not fit.
Array broadcast(const Array& array, const Extents& shape);

// `axis` counted from the front. Throws heed::Error unless it is in [-rank, rank).
Index axis_of(Index axis, const Extents& shape);

// The rows along one axis, [the rest, axis], copied; and such rows put back into an array of `shape`.
Tensor rows_along(const Array& array, Index axis);
Array from_rows(const Tensor& rows, const Extents& shape, Index axis);

}  // namespace heed::conformance
