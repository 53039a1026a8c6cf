#include "heed/io/file_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "heed/base/check.h"
#include "heed/base/float16.h"

namespace heed {
namespace {

float to_float(float value) { return value; }
double to_float(double value) { return value; }

// Elements are finite where their bits without the sign, as an integer, are below those of infinity; the largest of all
// is found without a branch.
template <typename Bits, typename T>
void check_all_finite(const Tensor& tensor, std::string_view where, T infinity) {
  const T* const elements = tensor.data<T>();
  Bits largest = 0;
  for (Index i = 0; i < tensor.size(); ++i) {
    largest = std::max<Bits>(largest, std::bit_cast<Bits>(elements[i]) & std::numeric_limits<Bits>::max());
  }
  if (largest < std::bit_cast<Bits>(infinity)) return;
  const T* const bad =
      std::find_if(elements, elements + tensor.size(), [](T element) { return !std::isfinite(to_float(element)); });
  fail("{}: every element must be finite, but element {} is {}", where, bad - elements, to_float(*bad));
}

}  // namespace

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

void check_finite(const Tensor& tensor, std::string_view where) {
  switch (tensor.dtype()) {
    case DType::f32:
      return check_all_finite<std::int32_t>(tensor, where, std::numeric_limits<float>::infinity());
    case DType::f64:
      return check_all_finite<std::int64_t>(tensor, where, std::numeric_limits<double>::infinity());
    case DType::bf16:
      return check_all_finite<std::int16_t>(tensor, where, to_bfloat16(INFINITY));
    case DType::f16:
      return check_all_finite<std::int16_t>(tensor, where, to_float16(INFINITY));
    default:
      return;
  }
}

}  // namespace heed
