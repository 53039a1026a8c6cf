#include "heed/ops/activation.h"

#include <cmath>
#include <numbers>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"
#include "heed/ops/sigmoid.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

constexpr double kGeluLinear = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // 2 sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715 * kGeluLinear;
constexpr double kGeluSigmoid = 1.702;
constexpr double kLeakySlope = 0.01;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_density(double x) { return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }

// tanh(log(1 + exp(x))), which mish weighs x by.
double mish_weight(double x) { return std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x))); }

double value(Activation activation, double x) {
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::leaky_relu:
      return x > 0 ? x : kLeakySlope * x;
    case Activation::relu6:
      return x < 0 ? 0 : x > 6 ? 6 : x;
    case Activation::gelu:
      return x * normal_cdf(x);
    case Activation::gelu_tanh:
      return x * sigmoid(x * (kGeluLinear + kGeluCubic * x * x));
    case Activation::gelu_sigmoid:
      return x * sigmoid(kGeluSigmoid * x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::mish:
      return x * mish_weight(x);
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
    case Activation::leaky_relu:
      return x > 0 ? 1 : x <= 0 ? kLeakySlope : x;
    case Activation::relu6:
      return x > 0 && x < 6 ? 1 : x <= 0 || x >= 6 ? 0 : x;
    case Activation::gelu:
      return normal_cdf(x) + x * normal_density(x);
    case Activation::gelu_tanh: {
      const double s = sigmoid(x * (kGeluLinear + kGeluCubic * x * x));
      return s + x * s * (1 - s) * (kGeluLinear + 3 * kGeluCubic * x * x);
    }
    case Activation::gelu_sigmoid: {
      const double s = sigmoid(kGeluSigmoid * x);
      return s + kGeluSigmoid * x * s * (1 - s);
    }
    case Activation::silu: {
      const double s = sigmoid(x);
      return s + x * s * (1 - s);
    }
    case Activation::mish: {
      const double w = mish_weight(x);
      return w + x * sigmoid(x) * (1 - w * w);
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

// Calls f(where values are in x, where gates are, where products are in y, how many) for parts of the rows of
// x [R, 2 D] and y [R, D].
template <typename F>
void for_gated_parts(std::string_view function, const ConstView& x, const ConstView& y, const F& f) {
  HEED_CHECK(x.rank == 2 && y.rank == 2 && x.shape[0] == y.shape[0] && x.shape[1] == 2 * y.shape[1] &&
                 x.dtype == y.dtype && x.contiguous() && y.contiguous() && !is_narrow(x.dtype),
             "{}: needs contiguous [R, 2 D] and [R, D] of one type, f32 or f64, but got {} and {}", function,
             describe(x), describe(y));
  const Index width = y.shape[1], part = std::min(width, kElementsPerTask);
  if (y.size() == 0) return;
  const Index parts = ceil_div(width, part);
  parallel_for(y.shape[0] * parts, std::max<Index>(1, kElementsPerTask / part), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index row = i / parts, first = i % parts * part;
      f(2 * row * width + first, (2 * row + 1) * width + first, row * width + first, std::min(part, width - first));
    }
  });
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

void activate_gated(Activation activation, ConstView x, View y) {
  check_operands("activate_gated", {{"x", x}}, {{"y", y}});
  for_gated_parts("activate_gated", x, y, [&](Index value_at, Index gate_at, Index to, Index count) {
    if (x.dtype == DType::f32) {
      const auto *from = x.as<float>(), *values = from + value_at;
      float* const products = y.as<float>() + to;
      kernels::activate(activation, from + gate_at, products, count);
      return kernels::multiply(products, values, products, count);
    }
    const auto* const from = x.as<double>();
    for (Index i = 0; i < count; ++i) {
      y.as<double>()[to + i] = value(activation, from[gate_at + i]) * from[value_at + i];
    }
  });
}

void activate_gated_backward(Activation activation, ConstView x, ConstView dy, View dx) {
  check_operands("activate_gated_backward", {{"x", x}, {"dy", dy}}, {{"dx", dx}});
  HEED_CHECK(same_shape(x, dx) && x.dtype == dx.dtype && dx.contiguous(),
             "activate_gated_backward: needs a contiguous dx as x, {}, but got {}", describe(x), describe(dx));
  for_gated_parts("activate_gated_backward", x, dy, [&](Index value_at, Index gate_at, Index at, Index count) {
    if (x.dtype == DType::f32) {
      const auto *from = x.as<float>(), *flow = dy.as<float>() + at;
      float *const dvalues = dx.as<float>() + value_at, *const dgates = dx.as<float>() + gate_at;
      kernels::activate(activation, from + gate_at, dvalues, count);
      kernels::multiply(flow, dvalues, dvalues, count);
      kernels::multiply(flow, from + value_at, dgates, count);
      return kernels::activate_backward(activation, from + gate_at, dgates, dgates, count);
    }
    const auto *const from = x.as<double>(), *const flow = dy.as<double>() + at;
    for (Index i = 0; i < count; ++i) {
      dx.as<double>()[value_at + i] = flow[i] * value(activation, from[gate_at + i]);
      dx.as<double>()[gate_at + i] = slope(activation, from[gate_at + i]) * (flow[i] * from[value_at + i]);
    }
  });
}

}  // namespace heed
