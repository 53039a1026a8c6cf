#include "heed/ops/activation.h"

#include <cmath>
#include <numbers>

#include "heed/base/parallel.h"
#include "heed/ops/sigmoid.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

constexpr double kGeluLinear = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // 2 sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715 * kGeluLinear;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_density(double x) { return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }

double value(Activation activation, double x) {
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::gelu:
      return x * normal_cdf(x);
    case Activation::gelu_tanh:
      return x * sigmoid(x * (kGeluLinear + kGeluCubic * x * x));
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
  }
  return 0;
}

double slope(Activation activation, double x) {
  switch (activation) {
    case Activation::identity:
      return 1;
    case Activation::relu:
      return x > 0 ? 1 : x <= 0 ? 0 : x;  // the last for a NaN
    case Activation::gelu:
      return normal_cdf(x) + x * normal_density(x);
    case Activation::gelu_tanh: {
      const double s = sigmoid(x * (kGeluLinear + kGeluCubic * x * x));
      return s + x * s * (1 - s) * (kGeluLinear + 3 * kGeluCubic * x * x);
    }
    case Activation::silu: {
      const double s = sigmoid(x);
      return s + x * s * (1 - s);
    }
    case Activation::tanh: {
      const double y = std::tanh(x);
      return 1 - y * y;
    }
    case Activation::sigmoid: {
      const double s = sigmoid(x);
      return s * (1 - s);
    }
  }
  return 0;
}

}  // namespace

void activate(Activation activation, ConstView x, View y) {
  check_operands("activate", {}, {{"y", y}}, {{"x", x}});
  const Index size = check_rows("activate", {x, y}).size();
  parallel_for(size, kElementsPerTask, [&](Index begin, Index end) {
    if (x.dtype == DType::f32) {
      return kernels::activate(activation, x.as<float>() + begin, y.as<float>() + begin, end - begin);
    }
    for (Index i = begin; i < end; ++i) y.as<double>()[i] = value(activation, x.as<double>()[i]);
  });
}

void activate_backward(Activation activation, ConstView x, ConstView dy, View dx) {
  check_operands("activate_backward", {}, {{"dx", dx}}, {{"x", x}, {"dy", dy}});
  const Index size = check_rows("activate_backward", {x, dy, dx}).size();
  parallel_for(size, kElementsPerTask, [&](Index begin, Index end) {
    if (x.dtype == DType::f32) {
      return kernels::activate_backward(activation, x.as<float>() + begin, dy.as<float>() + begin,
                                        dx.as<float>() + begin, end - begin);
    }
    for (Index i = begin; i < end; ++i) {
      dx.as<double>()[i] = slope(activation, x.as<double>()[i]) * dy.as<double>()[i];
    }
  });
}

}  // namespace heed
