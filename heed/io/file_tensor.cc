#include "heed/io/file_tensor.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/float16.h"

namespace heed {
namespace {

float to_float(float value) { return value; }
double to_float(double value) { return value; }

template <typename T>
void check_all_finite(const Tensor& tensor, std::string_view where) {
  const T* const elements = tensor.data<T>();
  bool finite = true;  // without a branch in the loop, which has many elements and, as a rule, nothing to find
  for (Index i = 0; i < tensor.size(); ++i) finite &= std::isfinite(to_float(elements[i]));
  if (finite) return;
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
      return check_all_finite<float>(tensor, where);
    case DType::f64:
      return check_all_finite<double>(tensor, where);
    case DType::bf16:
      return check_all_finite<BFloat16>(tensor, where);
    case DType::f16:
      return check_all_finite<Float16>(tensor, where);
    default:
      return;
  }
}

}  // namespace heed
