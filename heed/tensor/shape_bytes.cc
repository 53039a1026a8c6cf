#include "heed/tensor/shape_bytes.h"

#include <fmt/format.h>

#include "heed/base/check.h"
#include "heed/base/memory.h"

namespace heed {

Index checked_bytes(DType dtype, std::span<const Index> shape, std::string_view where, Index max_rank) {
  HEED_CHECK(static_cast<Index>(shape.size()) <= max_rank, "{}: the rank must be at most {}, but is {}", where,
             max_rank, shape.size());
  Index bytes = size_of(dtype);
  bool elements = true;
  for (Index extent : shape) {
    HEED_CHECK(extent >= 0, "{}: extents must not be negative, but the shape is [{}]", where, fmt::join(shape, ", "));
    if (extent == 0) {
      elements = false;
      continue;
    }
    HEED_CHECK(!__builtin_mul_overflow(bytes, extent, &bytes) && bytes <= kMostBytes, "{}: the shape [{}] is too large",
               where, fmt::join(shape, ", "));
  }
  return elements ? bytes : 0;
}

}  // namespace heed
