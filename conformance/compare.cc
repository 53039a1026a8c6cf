#include "compare.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

namespace heed::conformance {
namespace {

bool is_integral(DType dtype) {
  return dtype == DType::i8 || dtype == DType::i32 || dtype == DType::i64 || dtype == DType::boolean;
}

double element(const Tensor& elements, Index i) {
  switch (elements.dtype()) {
    case DType::f32:
      return static_cast<double>(elements.data<float>()[i]);
    case DType::f64:
      return elements.data<double>()[i];
    case DType::bf16:
      return static_cast<double>(to_float(elements.data<BFloat16>()[i]));
    case DType::f16:
      return static_cast<double>(to_float(elements.data<Float16>()[i]));
    case DType::i8:
      return elements.data<std::int8_t>()[i];
    case DType::i32:
      return elements.data<std::int32_t>()[i];
    case DType::i64:
      return static_cast<double>(elements.data<std::int64_t>()[i]);
    case DType::boolean:
      return elements.data<bool>()[i] ? 1 : 0;
  }
  return 0;
}

bool same_integer(const Tensor& a, const Tensor& b, Index i) {
  return a.data<std::int64_t>()[i] == b.data<std::int64_t>()[i];
}

Extents index_of(Index flat, const Extents& shape) {
  Extents index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

}  // namespace

std::string difference(const Array& got, const Array& expected, double rtol, double atol) {
  if (got.shape != expected.shape) {
    return fmt::format("has the shape {}, expected {}", text_of(got.shape), text_of(expected.shape));
  }
  const DType type = got.elements.dtype(), wanted = expected.elements.dtype();
  if (type != wanted && (is_integral(type) || is_integral(wanted))) {
    return fmt::format("is {}, expected {}", name_of(type), name_of(wanted));
  }
  const Tensor ours = type == wanted ? got.elements : got.elements.to(wanted);
  Index wrong = 0, worst = 0;
  double worst_excess = -1;
  for (Index i = 0; i < ours.size(); ++i) {
    const double a = element(ours, i), b = element(expected.elements, i);
    const bool same_number = a == b || (std::isnan(a) && std::isnan(b));
    // Two integers of 64 bits may be one double.
    if (wanted == DType::i64 ? same_integer(ours, expected.elements, i) : same_number) continue;
    const double error = std::fabs(a - b), allowed = is_integral(wanted) ? 0 : atol + rtol * std::fabs(b);
    if (!is_integral(wanted) && error <= allowed && std::isfinite(b)) continue;
    ++wrong;
    const double excess = std::isnan(error) ? std::numeric_limits<double>::infinity() : error - allowed;
    if (excess > worst_excess || worst_excess < 0) worst = i, worst_excess = excess;
  }
  if (wrong == 0) return {};
  const double a = element(ours, worst), b = element(expected.elements, worst);
  return fmt::format("at {}: got {:.9g}, expected {:.9g}, error {:.3g} of {:.3g} allowed; {} of {} elements differ",
                     text_of(index_of(worst, expected.shape)), a, b, std::fabs(a - b),
                     is_integral(wanted) ? 0 : atol + rtol * std::fabs(b), wrong, ours.size());
}

}  // namespace heed::conformance
