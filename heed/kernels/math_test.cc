#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/math_test.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"
#include "heed/testing/not_finite.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct ExpOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return exp(d, x);
  }
};
struct ExpOrZeroOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return exp_or_zero(d, x);
  }
};
struct SoftmaxWeightOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return softmax_weight(d, x);
  }
};
struct NarrowSoftmaxWeightOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return narrow_softmax_weight(d, x);
  }
};
struct LogOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return log(d, x);
  }
};
struct TanhOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return tanh(d, x);
  }
};
struct SigmoidOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return sigmoid(d, x);
  }
};
struct CdfOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return normal(d, x).cdf;
  }
};
struct DensityOf {
  template <class D, class V>
  V operator()(D d, V x) const {
    return normal(d, x).density;
  }
};

void Exp(const float* x, float* y, std::size_t n) { transform(n, y, ExpOf(), x); }
void ExpOrZero(const float* x, float* y, std::size_t n) { transform(n, y, ExpOrZeroOf(), x); }
void SoftmaxWeight(const float* x, float* y, std::size_t n) { transform(n, y, SoftmaxWeightOf(), x); }
void NarrowSoftmaxWeight(const float* x, float* y, std::size_t n) { transform(n, y, NarrowSoftmaxWeightOf(), x); }
void Log(const float* x, float* y, std::size_t n) { transform(n, y, LogOf(), x); }
void Tanh(const float* x, float* y, std::size_t n) { transform(n, y, TanhOf(), x); }
void Sigmoid(const float* x, float* y, std::size_t n) { transform(n, y, SigmoidOf(), x); }
void Cdf(const float* x, float* y, std::size_t n) { transform(n, y, CdfOf(), x); }
void Density(const float* x, float* y, std::size_t n) { transform(n, y, DensityOf(), x); }

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/target.h"

namespace heed::kernels {

HEED_EXPORT(Exp);
HEED_EXPORT(ExpOrZero);
HEED_EXPORT(SoftmaxWeight);
HEED_EXPORT(NarrowSoftmaxWeight);
HEED_EXPORT(Log);
HEED_EXPORT(Tanh);
HEED_EXPORT(Sigmoid);
HEED_EXPORT(Cdf);
HEED_EXPORT(Density);

namespace {

using testing::kInfinity;

using Function = void (*)(const float*, float*, std::size_t);
constexpr double kEpsilon = 0x1p-23;

void run_exp_or_zero(const float* x, float* y, std::size_t n) { HEED_DISPATCH(ExpOrZero)(x, y, n); }
void run_softmax_weight(const float* x, float* y, std::size_t n) { HEED_DISPATCH(SoftmaxWeight)(x, y, n); }
void run_narrow_softmax_weight(const float* x, float* y, std::size_t n) { HEED_DISPATCH(NarrowSoftmaxWeight)(x, y, n); }
void run_exp(const float* x, float* y, std::size_t n) { HEED_DISPATCH(Exp)(x, y, n); }
void run_log(const float* x, float* y, std::size_t n) { HEED_DISPATCH(Log)(x, y, n); }
void run_tanh(const float* x, float* y, std::size_t n) { HEED_DISPATCH(Tanh)(x, y, n); }
void run_sigmoid(const float* x, float* y, std::size_t n) { HEED_DISPATCH(Sigmoid)(x, y, n); }
void run_cdf(const float* x, float* y, std::size_t n) { HEED_DISPATCH(Cdf)(x, y, n); }
void run_density(const float* x, float* y, std::size_t n) { HEED_DISPATCH(Density)(x, y, n); }

float call(Function f, float x) {
  float y = 0;
  f(&x, &y, 1);
  return y;
}

// Every `step`-th float of both signs up to `limit` in magnitude, and zero: even in logarithm, so small arguments are
// not spared.
std::vector<float> floats_up_to(float limit, std::uint32_t step) {
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits <= std::bit_cast<std::uint32_t>(limit); bits += step) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  return x;
}

struct ErrorBound {
  double relative;  // in units of 2^-23 of the value, where the value is normal
  double absolute;
};

// The largest errors over the targets.
ErrorBound measure(Function f, double (*truth)(double), const std::vector<float>& x) {
  ErrorBound worst{0, 0};
  std::vector<float> y(x.size());
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    f(x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = truth(x[i]), error = std::abs(y[i] - exact);
      EXPECT_FALSE(std::isnan(error)) << x[i];
      worst.absolute = std::max(worst.absolute, error);
      if (std::abs(exact) >= 0x1p-126) worst.relative = std::max(worst.relative, error / std::abs(exact) / kEpsilon);
    }
  }
  force_simd_target(0);
  ::testing::Test::RecordProperty("relative_ulp", std::to_string(worst.relative));
  return worst;
}

ErrorBound measure(Function f, double (*truth)(double), float limit) {
  return measure(f, truth, floats_up_to(limit, 5003));
}

double true_log(double x) { return std::log(x); }
double true_exp(double x) { return std::exp(x); }
double true_exp2(double x) { return std::exp2(x); }
double true_tanh(double x) { return std::tanh(x); }
double true_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double true_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double true_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }

TEST(Math, ExpIsWithinItsStatedError) {
  const ErrorBound error = measure(run_exp, true_exp, 88.7f);
  EXPECT_LT(error.relative, 0.7);
}

// Zeros far below, and a NaN wherever there is one, whatever its bits.
void expect_zeros_and_nans(Function f, const std::vector<float>& below) {
  const float nans[] = {std::numeric_limits<float>::quiet_NaN(), std::bit_cast<float>(0x7F800001u),
                        std::bit_cast<float>(0x7FFFFFFFu), std::bit_cast<float>(0xFFC001FFu)};
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    std::vector<float> y(below.size(), 1.0f);
    f(below.data(), y.data(), below.size());
    EXPECT_EQ(y, std::vector<float>(below.size(), 0.0f));
    for (float nan : nans) EXPECT_TRUE(std::isnan(call(f, nan)));
  }
  force_simd_target(0);
}

TEST(Math, ExpOrZeroIsWithinItsStatedErrorAndZeroFarBelow) {
  const ErrorBound error = measure(run_exp_or_zero, true_exp, 87.0f);
  EXPECT_LT(error.relative, 0.7);
  expect_zeros_and_nans(run_exp_or_zero, {-87.00001f, -88, -103, -104.5f, -1e4f, -3e38f, -kInfinity});
}

TEST(Math, SoftmaxWeightIsZeroFurtherUp) {
  const ErrorBound error = measure(run_softmax_weight, true_exp, 55.45177f);
  EXPECT_LT(error.relative, 0.7);
  expect_zeros_and_nans(run_softmax_weight, {-55.45178f, -60, -87, -104.5f, -1e4f, -3e38f, -kInfinity});
}

TEST(Math, NarrowSoftmaxWeightIsWithinItsStatedErrorAndZeroFarBelow) {
  const ErrorBound error = measure(run_narrow_softmax_weight, true_exp2, 80.0f);
  EXPECT_LT(error.relative, 1.5);
  expect_zeros_and_nans(run_narrow_softmax_weight, {-80.00001f, -125, -126, -149.5f, -1e4f, -3e38f, -kInfinity});
}

// Of all normal numbers, and of every one beside 1, where the logarithm is as small as its argument's distance.
TEST(Math, LogIsWithinItsStatedError) {
  std::vector<float> x;
  for (std::uint32_t bits = 0x00800000; bits < 0x7F800000; bits += 5003) x.push_back(std::bit_cast<float>(bits));
  for (float at = 0.999f; at < 1.001f; at = std::nextafter(at, 2.0f)) x.push_back(at);
  EXPECT_LT(measure(run_log, true_log, x).relative, 0.9);
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    EXPECT_EQ(call(run_log, 1.0f), 0.0f);
    EXPECT_EQ(call(run_log, kInfinity), kInfinity);
    EXPECT_TRUE(std::isfinite(call(run_log, 0.0f)));
    EXPECT_TRUE(std::isnan(call(run_log, std::numeric_limits<float>::quiet_NaN())));
    EXPECT_TRUE(std::isnan(call(run_log, -std::numeric_limits<float>::quiet_NaN())));
  }
  force_simd_target(0);
}

TEST(Math, TanhIsWithinItsStatedError) {
  const ErrorBound error = measure(run_tanh, true_tanh, 30.0f);
  EXPECT_LT(error.relative, 2.8);
}

// Every float on the way to where it is one for good.
TEST(Math, TanhIsNeverMoreThanOneAndOneFarOut) {
  constexpr float kBound = 7.97548914f;
  std::vector<float> x;
  for (float at = 7.5f; at < kBound; at = std::nextafter(at, kInfinity)) x.push_back(at);
  const std::vector<float> beyond = {kBound, 7.98f, 8.1f, 9.0f, 30.0f, 3e38f};
  std::vector<float> y(x.size()), ones(beyond.size());
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    run_tanh(x.data(), y.data(), x.size());
    EXPECT_LE(*std::max_element(y.begin(), y.end()), 1.0f);
    run_tanh(beyond.data(), ones.data(), beyond.size());
    EXPECT_EQ(ones, std::vector<float>(beyond.size(), 1.0f));
  }
  force_simd_target(0);
}

TEST(Math, SigmoidIsWithinItsStatedError) {
  const ErrorBound error = measure(run_sigmoid, true_sigmoid, 87.0f);
  EXPECT_LT(error.relative, 1.2);
}

TEST(Math, TheNormalDistributionIsWithinItsStatedError) {
  EXPECT_LT(measure(run_cdf, true_cdf, 14.0f).absolute, 1.9e-7);
  EXPECT_LT(measure(run_cdf, true_cdf, 4.0f).relative, 8.0);
  EXPECT_LT(measure(run_density, true_density, 14.0f).absolute, 1e-7);
}

TEST(Math, LimitsAreExactAndNanPropagates) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (Function f : {run_exp, run_tanh, run_sigmoid, run_cdf, run_density}) {
      EXPECT_TRUE(std::isnan(call(f, std::numeric_limits<float>::quiet_NaN())));
      EXPECT_TRUE(std::isnan(call(f, -std::numeric_limits<float>::quiet_NaN())));
    }
    EXPECT_EQ(call(run_exp, 0.0f), 1.0f);
    EXPECT_EQ(call(run_exp, kInfinity), kInfinity);
    EXPECT_EQ(call(run_exp, 89.0f), kInfinity);
    EXPECT_EQ(call(run_exp, -kInfinity), 0.0f);
    EXPECT_EQ(call(run_exp, -1e30f), 0.0f);
    EXPECT_NEAR(call(run_exp, -100.0f), std::exp(-100.0), 0x1p-149);
    EXPECT_EQ(call(run_tanh, kInfinity), 1.0f);
    EXPECT_EQ(call(run_tanh, -kInfinity), -1.0f);
    EXPECT_TRUE(std::signbit(call(run_tanh, -0.0f)));
    EXPECT_EQ(call(run_sigmoid, 0.0f), 0.5f);
    EXPECT_EQ(call(run_sigmoid, kInfinity), 1.0f);
    EXPECT_EQ(call(run_sigmoid, -kInfinity), 0.0f);
    EXPECT_EQ(call(run_cdf, kInfinity), 1.0f);
    EXPECT_EQ(call(run_cdf, -kInfinity), 0.0f);
    EXPECT_EQ(call(run_density, kInfinity), 0.0f);
  }
  force_simd_target(0);
}

TEST(Math, AnElementHasTheSameBitsInAnyPlace) {
  const std::vector<float> x = floats_up_to(20.0f, 9000011);
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (Function f : {run_exp, run_tanh, run_sigmoid, run_cdf, run_density}) {
      std::vector<float> y(x.size());
      f(x.data(), y.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(call(f, x[i])), std::bit_cast<std::uint32_t>(y[i])) << x[i];
      }
    }
  }
  force_simd_target(0);
}

}  // namespace
}  // namespace heed::kernels
#endif
