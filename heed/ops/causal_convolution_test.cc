#include "heed/ops/causal_convolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using testing::weighted_sum;

struct ConvolutionProblem {
  ConvolutionProblem(DType dtype, Index batch, Index channels, Index length, Index kernel)
      : x(random_tensor(DType::f64, {batch, channels, length}, 1).to(dtype)),
        weight(random_tensor(DType::f64, {channels, kernel}, 2).to(dtype)),
        bias(random_tensor(DType::f64, {channels}, 3).to(dtype)),
        state(random_tensor(DType::f64, {batch, channels, kernel - 1}, 4).to(dtype)),
        y(Tensor::empty_like(x.view())),
        last(Tensor::empty_like(state.view())) {}

  CausalConvolution operands() const { return {.x = x, .weight = weight, .bias = bias, .state = state}; }
  void run() const { causal_convolution(operands(), y, last); }

  Tensor x, weight, bias, state, y, last;
};

// Shorter than the filter, as long, longer; and a filter of one, which keeps nothing.
constexpr struct { Index length, kernel; } kLengthsAndKernels[] = {{1, 4}, {2, 4}, {3, 4}, {7, 4}, {5, 1}, {9, 2}};

TEST(CausalConvolution, IsTheSumOverTheLastInputs) {
  for (const auto& extents : kLengthsAndKernels) {
    const Index length = extents.length, kernel = extents.kernel;
    const ConvolutionProblem p(DType::f64, 2, 3, length, kernel);
    p.run();
    for (Index b = 0; b < 2; ++b)
      for (Index c = 0; c < 3; ++c) {
        const auto past = [&](Index i) {  // i inputs back from the first
          return i >= 0 ? p.x.at<double>({b, c, i}) : p.state.at<double>({b, c, kernel - 1 + i});
        };
        for (Index l = 0; l < length; ++l) {
          double sum = p.bias.at<double>({c});
          for (Index back = 0; back < kernel; ++back)
            sum += p.weight.at<double>({c, kernel - 1 - back}) * past(l - back);
          EXPECT_NEAR(p.y.at<double>({b, c, l}), sum, 1e-13);
        }
        for (Index i = 0; i < kernel - 1; ++i) {
          EXPECT_EQ(p.last.at<double>({b, c, i}), past(length - (kernel - 1) + i));
        }
      }
  }
}

TEST(CausalConvolution, GradientsMatchFiniteDifferences) {
  for (const auto& [length, kernel] : kLengthsAndKernels) {
    const ConvolutionProblem p(DType::f64, 2, 3, length, kernel);
    const Tensor dy = random_tensor(DType::f64, {2, 3, length}, 5),
                 dlast = random_tensor(DType::f64, {2, 3, kernel - 1}, 6);
    const Tensor dx = Tensor::empty_like(p.x.view()), dstate = Tensor::empty_like(p.state.view()),
                 dweight = Tensor::zeros_like(p.weight.view()), dbias = Tensor::zeros_like(p.bias.view());
    causal_convolution_backward(p.operands(), dy, dlast,
                                {.dx = dx, .dstate = dstate, .dweight = dweight, .dbias = dbias});
    const auto loss = [&] {
      p.run();
      return weighted_sum(p.y, dy) + weighted_sum(p.last, dlast);
    };
    EXPECT_LT(gradient_error(loss, p.x, dx), 1e-8);
    EXPECT_LT(gradient_error(loss, p.state, dstate), 1e-8);
    EXPECT_LT(gradient_error(loss, p.weight, dweight), 1e-8);
    EXPECT_LT(gradient_error(loss, p.bias, dbias), 1e-8);
  }
}

TEST(CausalConvolution, TokenByTokenInPlaceGivesTheBitsOfTheWhole) {
  const ConvolutionProblem p(DType::f32, 2, 3, 9, 4);
  p.run();
  const Tensor state = p.state.clone(), y = Tensor::empty(DType::f32, {2, 3, 1});
  for (Index l = 0; l < 9; ++l) {
    const Tensor x = Tensor::copy_of(slice(p.x.view(), 2, l, l + 1));
    causal_convolution({.x = x, .weight = p.weight, .bias = p.bias, .state = state}, y, state);
    EXPECT_TRUE(same_bits(y, slice(p.y.view(), 2, l, l + 1))) << l;
  }
  EXPECT_TRUE(same_bits(state, p.last));
}

TEST(CausalConvolution, WithoutAStateAndABiasTheyAreZeros) {
  const ConvolutionProblem p(DType::f32, 2, 3, 5, 4);
  fill(p.state, 0);
  fill(p.bias, 0);
  p.run();
  const Tensor y = Tensor::empty_like(p.y.view());
  causal_convolution({.x = p.x, .weight = p.weight}, y, {});
  EXPECT_TRUE(same_bits(y, p.y));
}

TEST(CausalConvolution, AFutureInputChangesNothingBefore) {
  const ConvolutionProblem p(DType::f32, 1, 2, 6, 3);
  p.run();
  const Tensor before = p.y.clone();
  p.x.at<float>({0, 1, 4}) = NAN;
  p.run();
  EXPECT_TRUE(same_bits(slice(p.y.view(), 2, 0, 4), slice(before.view(), 2, 0, 4)));
  EXPECT_TRUE(std::isnan(p.y.at<float>({0, 1, 5})));
}

TEST(CausalConvolution, ThreadsChangeNoBit) {
  const int saved = thread_count();
  Tensor ys[2], dweights[2];
  for (int run = 0; run < 2; ++run) {
    set_thread_count(run == 0 ? 1 : 3);
    const ConvolutionProblem p(DType::f32, 4, 70, 300, 4);
    p.run();
    ys[run] = p.y;
    dweights[run] = Tensor::zeros_like(p.weight.view());
    causal_convolution_backward(p.operands(), p.y, {}, {.dweight = dweights[run]});
  }
  set_thread_count(saved);
  EXPECT_TRUE(same_bits(ys[0], ys[1]));
  EXPECT_TRUE(same_bits(dweights[0], dweights[1]));
}

TEST(CausalConvolution, NamesWhatItRefuses) {
  const ConvolutionProblem p(DType::f32, 2, 3, 5, 4);
  EXPECT_NE(refusal([&] { causal_convolution({.x = p.x, .weight = p.x}, p.y, {}); }).find("weight [C, K]"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] { causal_convolution({.x = p.x, .weight = p.weight, .bias = p.weight}, p.y, {}); }).find("bias"),
      std::string::npos);
  EXPECT_NE(refusal([&] { causal_convolution({.x = p.x, .weight = p.weight, .state = p.x}, p.y, {}); }).find("K - 1"),
            std::string::npos);
  EXPECT_NE(refusal([&] { causal_convolution({.x = p.x, .weight = p.weight}, p.last, {}); }).find("y must be"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
