#include "heed/testing/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "heed/base/check.h"
#include "heed/base/random.h"

namespace heed::testing {

Tensor random_tensor(DType dtype, std::initializer_list<Index> shape, std::uint64_t seed, double scale) {
  Tensor tensor = Tensor::empty(DType::f64, shape);
  Rng rng(seed, 0x7E57);
  for (Index i = 0; i < tensor.size(); ++i) tensor.data<double>()[i] = rng.normal() * scale;
  return dtype == DType::f64 ? tensor : tensor.to(dtype);
}

double weighted_sum(const ConstView& x, const ConstView& w) {
  const Tensor a = Tensor::copy_of(x).to(DType::f64), b = Tensor::copy_of(w).to(DType::f64);
  HEED_CHECK(same_shape(x, w), "weighted_sum: shapes are {} and {}", describe(x), describe(w));
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += a.data<double>()[i] * b.data<double>()[i];
  return sum;
}

double gradient_error(const std::function<double()>& loss, View x, ConstView gradient, double step) {
  HEED_CHECK(x.dtype == DType::f64 && gradient.dtype == DType::f64 && same_shape(x, gradient),
             "gradient_error: needs f64 views of one shape, but got {} and {}", describe(x), describe(gradient));
  double worst = 0;
  for (Index i = 0; i < x.shape[0]; ++i)
    for (Index j = 0; j < x.shape[1]; ++j)
      for (Index k = 0; k < x.shape[2]; ++k)
        for (Index l = 0; l < x.shape[3]; ++l) {
          double& value = x.at<double>({i, j, k, l});
          const double kept = value, h = step * std::max(1.0, std::abs(kept));
          value = kept + h;
          const double above = loss();
          value = kept - h;
          const double below = loss();
          value = kept;
          const double g = gradient.at<double>({i, j, k, l});
          const double error = std::abs(g - (above - below) / (2 * h)) / std::max(1.0, std::abs(g));
          worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
        }
  return worst;
}

double largest_difference(const ConstView& a, const ConstView& b) {
  HEED_CHECK(same_shape(a, b), "largest_difference: shapes are {} and {}", describe(a), describe(b));
  const Tensor x = Tensor::copy_of(a).to(DType::f64), y = Tensor::copy_of(b).to(DType::f64);
  double worst = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const double p = x.data<double>()[i], q = y.data<double>()[i];
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    const double error = std::abs(p - q) / std::max(1.0, std::abs(q));
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

bool same_bits(const ConstView& a, const ConstView& b) {
  HEED_CHECK(same_shape(a, b) && a.dtype == b.dtype, "same_bits: {} and {}", describe(a), describe(b));
  const Tensor x = Tensor::copy_of(a), y = Tensor::copy_of(b);
  return std::memcmp(x.data<char>(), y.data<char>(), static_cast<std::size_t>(x.size() * size_of(x.dtype()))) == 0;
}

}  // namespace heed::testing
