#include "heed/io/shape.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr Index kMaxBytes = Index{1} << 46;

}  // namespace

Index checked_bytes(DType dtype, std::span<const Index> shape, std::string_view where, Index max_rank) {
  HEED_CHECK(static_cast<Index>(shape.size()) <= max_rank, "{}: the rank must be at most {}, but is {}", where,
             max_rank, shape.size());
  // Zeros are left out so that [0, 2^62, 2^62], whose strides would overflow, is refused too.
  Index bytes = size_of(dtype);
  for (Index extent : shape) {
    HEED_CHECK(extent >= 0, "{}: extents must not be negative, but the shape is [{}]", where, fmt::join(shape, ", "));
    if (extent == 0) continue;
    HEED_CHECK(bytes <= kMaxBytes / extent, "{}: the shape [{}] is too large", where, fmt::join(shape, ", "));
    bytes *= extent;
  }
  return std::ranges::find(shape, 0) == shape.end() ? bytes : 0;
}

Tensor tensor_of_shape(DType dtype, std::span<const Index> shape) {
  ConstView like;
  like.dtype = dtype;
  like.rank = static_cast<int>(shape.size());
  std::ranges::copy(shape, like.shape.begin());
  return Tensor::empty_like(like);
}

void check_booleans(const Tensor& tensor, std::string_view where) {
  const std::span<const unsigned char> bytes(tensor.data<unsigned char>(), static_cast<std::size_t>(tensor.size()));
  const auto bad = std::ranges::find_if(bytes, [](unsigned char byte) { return byte > 1; });
  HEED_CHECK(bad == bytes.end(), "{}: a boolean must be 0 or 1, but element {} is {}", where, bad - bytes.begin(),
             *bad);
}

}  // namespace heed
