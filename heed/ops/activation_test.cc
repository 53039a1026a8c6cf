#include "heed/ops/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/ops/elementwise.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::same_bits;
using testing::weighted_sum;

constexpr Activation kActivations[] = {Activation::leaky_relu, Activation::relu6,        Activation::mish,
                                       Activation::identity,   Activation::relu,         Activation::gelu,
                                       Activation::gelu_tanh,  Activation::gelu_sigmoid, Activation::silu,
                                       Activation::tanh,       Activation::sigmoid};

double forward_of(Activation activation, double value) {
  Tensor x = Tensor::from<double>({value}, {1});
  activate(activation, x, x);
  return x.at<double>({0});
}

TEST(Activation, MatchesItsDefinition) {
  EXPECT_EQ(forward_of(Activation::identity, -2.5), -2.5);
  EXPECT_EQ(forward_of(Activation::relu, -2.5), 0);
  EXPECT_EQ(forward_of(Activation::relu, 2.5), 2.5);
  EXPECT_EQ(forward_of(Activation::leaky_relu, -2.5), -0.025);
  EXPECT_EQ(forward_of(Activation::leaky_relu, 2.5), 2.5);
  EXPECT_EQ(forward_of(Activation::relu6, -2.5), 0);
  EXPECT_EQ(forward_of(Activation::relu6, 2.5), 2.5);
  EXPECT_EQ(forward_of(Activation::relu6, 6.5), 6);
  for (double x : {-3.0, -0.5, 0.0, 0.25, 2.0}) {
    EXPECT_NEAR(forward_of(Activation::mish, x), x * std::tanh(std::log(1 + std::exp(x))), 1e-15);
    EXPECT_NEAR(forward_of(Activation::gelu, x), x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))), 1e-15);
    EXPECT_NEAR(forward_of(Activation::gelu_tanh, x),
                0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))), 1e-15);
    EXPECT_NEAR(forward_of(Activation::gelu_sigmoid, x), x / (1 + std::exp(-1.702 * x)), 1e-15);
    EXPECT_NEAR(forward_of(Activation::silu, x), x / (1 + std::exp(-x)), 1e-15);
    EXPECT_NEAR(forward_of(Activation::tanh, x), std::tanh(x), 1e-15);
    EXPECT_NEAR(forward_of(Activation::sigmoid, x), 1 / (1 + std::exp(-x)), 1e-15);
  }
}

TEST(Activation, BackwardIsTheDerivative) {
  for (Activation activation : kActivations) {
    const Tensor x = random_tensor(DType::f64, {3, 7}, 1, 2.0), dy = random_tensor(DType::f64, {3, 7}, 2);
    const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
    activate_backward(activation, x, dy, dx);
    const auto loss = [&] { return activate(activation, x, y), weighted_sum(y, dy); };
    EXPECT_LT(gradient_error(loss, x, dx), 1e-8) << static_cast<int>(activation);
  }
}

TEST(Activation, FloatAgreesWithDoubleOnEveryTarget) {
  for (Activation activation : kActivations) {
    for (Index width : {1, 3, 17, 31, 1000}) {
      const Tensor x = random_tensor(DType::f32, {3, width}, 3, 3.0), dy = random_tensor(DType::f32, {3, width}, 4);
      const Tensor x64 = x.to(DType::f64), dy64 = dy.to(DType::f64);
      const Tensor y64 = Tensor::empty_like(x64), dx64 = Tensor::empty_like(x64);
      activate(activation, x64, y64);
      activate_backward(activation, x64, dy64, dx64);
      for (std::int64_t target : simd_targets()) {
        force_simd_target(target);
        const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
        activate(activation, x, y);
        activate_backward(activation, x, dy, dx);
        // A handful of roundings of terms that are at most |x| <= 12.
        EXPECT_LT(largest_difference(y, y64), 4 * 0x1p-23) << static_cast<int>(activation);
        EXPECT_LT(largest_difference(dx, dx64), 24 * 0x1p-23) << static_cast<int>(activation);
      }
      force_simd_target(0);
    }
  }
}

TEST(Activation, HasTheSameBitsInPlaceOnAnyThreadsAndForAPart) {
  const Tensor x = random_tensor(DType::f32, {67, 1001}, 5), dy = random_tensor(DType::f32, {67, 1001}, 6);
  const int before = thread_count();
  for (Activation activation : kActivations) {
    const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
    set_thread_count(1);
    activate(activation, x, y);
    activate_backward(activation, x, dy, dx);
    for (int threads : {2, 3}) {
      set_thread_count(threads);
      const Tensor in_place = x.clone(), gradient = dy.clone();
      activate(activation, in_place, in_place);
      activate_backward(activation, x, gradient, gradient);
      EXPECT_TRUE(same_bits(in_place, y));
      EXPECT_TRUE(same_bits(gradient, dx));
    }
    const View row = slice(x, 0, 5, 6);
    const Tensor alone = Tensor::empty_like(row);
    activate(activation, row, alone);
    EXPECT_TRUE(same_bits(alone, slice(y, 0, 5, 6)));
    activate_backward(activation, row, slice(dy, 0, 5, 6), alone);
    EXPECT_TRUE(same_bits(alone, slice(dx, 0, 5, 6)));
  }
  set_thread_count(before);
}

TEST(Activation, NanPropagatesForwardAndBackward) {
  for (DType dtype : {DType::f32, DType::f64}) {
    for (Activation activation : kActivations) {
      const Tensor x = Tensor::from<double>({1, std::nan(""), 3}, {3}).to(dtype);
      const Tensor dy = Tensor::from<double>({1, 1, std::nan("")}, {3}).to(dtype);
      const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
      activate(activation, x, y);
      activate_backward(activation, x, dy, dx);
      const Tensor out = y.to(DType::f64), gradient = dx.to(DType::f64);
      EXPECT_FALSE(std::isnan(out.at<double>({0})));
      EXPECT_TRUE(std::isnan(out.at<double>({1})));
      EXPECT_FALSE(std::isnan(out.at<double>({2})));
      EXPECT_FALSE(std::isnan(gradient.at<double>({0})));
      // The identity does not look at x.
      EXPECT_EQ(std::isnan(gradient.at<double>({1})), activation != Activation::identity);
      EXPECT_TRUE(std::isnan(gradient.at<double>({2})));
    }
  }
}

TEST(Activation, ReluOfZeroHasGradientZero) {
  const Tensor x = Tensor::from<float>({0.0f, -0.0f}, {2}), dy = Tensor::from<float>({5, 5}, {2});
  const Tensor dx = Tensor::empty_like(x);
  activate_backward(Activation::relu, x, dy, dx);
  EXPECT_EQ(dx.at<float>({0}), 0);
  EXPECT_EQ(dx.at<float>({1}), 0);
}

TEST(Activation, RefusesWhatIsNotContiguousOrOfOneShapeAndType) {
  const Tensor x = Tensor::zeros(DType::f32, {4, 6}), y = Tensor::zeros(DType::f32, {6, 4});
  const Tensor d = Tensor::zeros(DType::f64, {4, 6}), ids = Tensor::zeros(DType::i32, {4, 6});
  EXPECT_THROW(activate(Activation::relu, x, y), Error);
  EXPECT_THROW(activate(Activation::relu, x, d), Error);
  EXPECT_THROW(activate(Activation::relu, ids, ids), Error);
  EXPECT_THROW(activate(Activation::relu, x, View()), Error);
  EXPECT_THROW(activate(Activation::relu, transpose(x, 0, 1), y), Error);
  EXPECT_THROW(activate_backward(Activation::relu, x, x, y), Error);
}

TEST(Activation, GatedIsAProductWithTheBitsOfItsParts) {
  for (Index width : {1, 17, 40000}) {
    const Tensor x = random_tensor(DType::f32, {3, 2 * width}, 5), y = Tensor::empty(DType::f32, {3, width});
    const Tensor expected = Tensor::copy_of(slice(x.view(), 1, width, 2 * width));
    activate(Activation::silu, expected, expected);
    multiply(expected, Tensor::copy_of(slice(x.view(), 1, 0, width)), expected);
    activate_gated(Activation::silu, x, y);
    EXPECT_TRUE(same_bits(y, expected)) << width;
  }
}

TEST(Activation, GatedBackwardIsTheDerivative) {
  for (Activation activation : kActivations) {
    const Tensor x = random_tensor(DType::f64, {3, 14}, 1, 2.0), dy = random_tensor(DType::f64, {3, 7}, 2);
    const Tensor y = Tensor::empty_like(dy), dx = Tensor::empty_like(x);
    activate_gated_backward(activation, x, dy, dx);
    const auto loss = [&] { return activate_gated(activation, x, y), weighted_sum(y, dy); };
    EXPECT_LT(gradient_error(loss, x, dx), 1e-8) << static_cast<int>(activation);
    const Tensor single = Tensor::empty(DType::f32, {3, 14});
    activate_gated_backward(activation, x.to(DType::f32), dy.to(DType::f32), single);
    EXPECT_LT(largest_difference(single, dx), 1e-5) << static_cast<int>(activation);
  }
}

TEST(Activation, GatedRefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros(DType::f32, {3, 8}), y = Tensor::zeros(DType::f32, {3, 5});
  EXPECT_THROW(activate_gated(Activation::silu, x, y), Error);
  EXPECT_THROW(activate_gated_backward(Activation::silu, x, Tensor::zeros(DType::f32, {3, 4}), y), Error);
}

}  // namespace
}  // namespace heed
