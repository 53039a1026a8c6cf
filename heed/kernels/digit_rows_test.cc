#include "heed/kernels/digit_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

class DigitRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_digit_products()) GTEST_SKIP() << "this machine has no AVX512-VNNI";
  }
};

struct Split {
  std::vector<std::int8_t> digits;
  DigitTerms terms;

  explicit Split(const std::vector<float>& x) : digits(static_cast<std::size_t>(digit_row_bytes(width(x))), 77) {
    split_digits(x.data(), width(x), digits.data(), &terms);
  }
  static Index width(const std::vector<float>& x) { return static_cast<Index>(x.size()); }
  // The number of units that the digits of place i say.
  Index number(std::size_t i) const {
    const std::size_t place = digits.size() / kDigits;
    return (Index{digits[i]} * 256 + digits[place + i]) * 256 + digits[2 * place + i];
  }
};

TEST_F(DigitRowsTest, EachNumberIsTheNearestOfItsUnitsAndTheRestIsZeros) {
  Rng rng(1);
  for (Index width : {1, 15, 16, 63, 64, 65, 200}) {
    std::vector<float> x(static_cast<std::size_t>(width));
    for (float& number : x) number = static_cast<float>(rng.normal() * std::exp2(rng.below(20)));
    const Split split(x);
    float largest = 0;
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double units = x[i] / split.terms.unit;
      EXPECT_EQ(static_cast<double>(split.number(i)), std::nearbyint(units)) << width << " " << i;
      largest = std::max(largest, std::abs(x[i])), sum += static_cast<double>(split.number(i));
    }
    EXPECT_EQ(split.terms.offset, 128 * sum);
    EXPECT_GE(largest / split.terms.unit, 0x3FBFBF) << width;
    EXPECT_LE(largest / split.terms.unit, 0x7F7F7F) << width;
    for (Index i = width; i < static_cast<Index>(split.digits.size()) / kDigits; ++i) {
      EXPECT_EQ(split.number(static_cast<std::size_t>(i)), 0) << width << " " << i;
    }
  }
}

TEST_F(DigitRowsTest, NumbersOfFewBitsAreExactAtEveryMagnitude) {
  for (int exponent : {-120, -40, 0, 1, 60, 104}) {
    std::vector<float> x;
    for (int n : {0, 1, -1, 127, 128, -128, 32767, -32768, 0x3FFFFF, -0x3FFFFF})
      x.push_back(std::ldexp(static_cast<float>(n), exponent));
    const Split split(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(static_cast<double>(split.number(i)) * split.terms.unit, double{x[i]}) << exponent << " " << i;
    }
  }
}

TEST_F(DigitRowsTest, TheLargestAndTheLeastNumbersAreWithinAUnit) {
  constexpr float kMost = std::numeric_limits<float>::max(), kLeast = std::numeric_limits<float>::denorm_min();
  for (const std::vector<float>& x : {std::vector<float>{kMost, -kMost, 1}, {kLeast, -kLeast}, {0, -0.0f}, {1e-37f}}) {
    const Split split(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(std::abs(static_cast<double>(split.number(i)) * split.terms.unit - x[i]), split.terms.unit / 2);
      EXPECT_LE(split.terms.unit, std::max(std::abs(x[0]) * 0x1p-21, 0x1p-126));
    }
  }
}

TEST_F(DigitRowsTest, ARowWithANumberThatIsNotFiniteHasOnlyNanProducts) {
  const std::vector<std::int8_t> weights(20, 0);
  const std::vector<float> scales(2, 1);
  for (float bad : {kInf, -kInf, kNan}) {
    std::vector<float> x(10, 1);
    x[7] = bad;
    const Split split(x);
    std::array<float, 2> y{};
    digit_products({split.digits.data(), &split.terms, 1},
                   {.data = weights.data(),
                    .dtype = DType::i8,
                    .count = 2,
                    .width = 10,
                    .row = 10,
                    .scales = scales.data(),
                    .scale_row = 1},
                   nullptr, {y.data(), 2, 1});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << bad;
  }
}

// That they are exact whatever the shape is a matter of weight_test.cc, where a weight meets them as others do.
TEST_F(DigitRowsTest, SumsOfTheLargestDigitsDoNotOverflow) {
  constexpr Index kWidth = 200'000;
  for (float sign : {1.0f, -1.0f}) {
    const std::vector<float> x(kWidth, sign * 0x7F7F7F);
    const std::vector<std::int8_t> weights(kWidth, 127);
    const float scale = 1;
    const Split split(x);
    float y = 0;
    digit_products({split.digits.data(), &split.terms, 1},
                   {.data = weights.data(),
                    .dtype = DType::i8,
                    .count = 1,
                    .width = kWidth,
                    .row = kWidth,
                    .scales = &scale,
                    .scale_row = 1},
                   nullptr, {&y, 1, 1});
    EXPECT_EQ(y, static_cast<float>(sign * 127.0 * 0x7F7F7F * kWidth));
  }
}

TEST_F(DigitRowsTest, AreNotThereBelowAvx512) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    if (simd_target_name(target) == "AVX2") {
      EXPECT_FALSE(has_digit_products());
    }
  }
  force_simd_target(0);
  EXPECT_TRUE(has_digit_products());
}

}  // namespace
}  // namespace heed::kernels
