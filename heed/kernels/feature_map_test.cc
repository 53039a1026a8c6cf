#include "heed/kernels/feature_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "heed/kernels/target.h"
#include "heed/testing/not_finite.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::kInfinity;
using testing::kNaN;
using testing::random_floats;

struct FeatureMaps : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

TEST_P(FeatureMaps, AreWhatTheirNamesSayAtAnyWidth) {
  for (Index width : {1, 7, 16, 33}) {
    const Index rows = 3, row = width + 2;
    const std::vector<float> x = random_floats(rows * row, 1, 4);
    std::vector<float> elu(static_cast<std::size_t>(rows * width)), relu = elu;
    elu_plus_one_rows(rows, width, x.data(), row, elu.data());
    relu_rows(rows, width, x.data(), row, relu.data());
    for (Index r = 0; r < rows; ++r)
      for (Index d = 0; d < width; ++d) {
        const double number = x[r * row + d], expected = number > 0 ? number + 1 : std::exp(number);
        EXPECT_NEAR(elu[r * width + d], expected, 1e-7 * expected) << width;
        EXPECT_EQ(relu[r * width + d], std::max(number, 0.0)) << width;
      }
  }
}

TEST_P(FeatureMaps, KeepWhatIsNoNumber) {
  const std::vector<float> x{kInfinity, -kInfinity, kNaN, 0};
  std::vector<float> y(4);
  elu_plus_one_rows(1, 4, x.data(), 4, y.data());
  EXPECT_EQ(y[0], kInfinity);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 1);
  relu_rows(1, 4, x.data(), 4, y.data());
  EXPECT_EQ(y[0], kInfinity);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]));
}

TEST_P(FeatureMaps, EluIsTheSameBesideNumbersThatComeOutSubnormal) {
  constexpr Index kCount = 64;
  std::vector<float> x = random_floats(kCount, 1, 40);
  for (float& number : x) number = std::max(number, -87.0f);
  x[3] = kInfinity, x[5] = kNaN, x[7] = -87;
  std::vector<float> alone(kCount), beside(kCount);
  elu_plus_one_rows(1, kCount, x.data(), kCount, alone.data());
  for (Index at = 0; at < kCount; ++at) {
    std::vector<float> mixed = x;
    for (Index other = 0; other < kCount; ++other) {
      if (other != at) mixed[other] = -100;
    }
    elu_plus_one_rows(1, kCount, mixed.data(), kCount, beside.data());
    EXPECT_EQ(std::bit_cast<std::uint32_t>(beside[at]), std::bit_cast<std::uint32_t>(alone[at])) << x[at];
    const Index other = at == 0 ? 1 : 0;
    EXPECT_NEAR(beside[other], std::exp(-100.0), 2e-45);
  }
}

TEST_P(FeatureMaps, FlowAlongTheirSlopes) {
  for (Index width : {1, 7, 16, 33}) {
    const Index rows = 3, row = width + 2;
    const std::vector<float> x = random_floats(rows * width, 1), dy = random_floats(rows * width, 2);
    std::vector<float> y(x.size()), dx(static_cast<std::size_t>(rows * row));
    elu_plus_one_rows(rows, width, x.data(), width, y.data());
    elu_plus_one_gradient_rows(rows, width, y.data(), dy.data(), dx.data(), row);
    for (Index i = 0; i < rows * width; ++i) {
      const double slope = x[i] > 0 ? 1 : std::exp(double{x[i]});
      EXPECT_NEAR(dx[i / width * row + i % width], dy[i] * slope, 1e-6) << width;
    }
    relu_rows(rows, width, x.data(), width, y.data());
    relu_gradient_rows(rows, width, y.data(), dy.data(), dx.data(), row);
    for (Index i = 0; i < rows * width; ++i) EXPECT_EQ(dx[i / width * row + i % width], x[i] > 0 ? dy[i] : 0) << width;
  }
}

// An exponent near 40 that is rounded to a float is off by 2e-6, and so is the feature.
TEST_P(FeatureMaps, RandomFeaturesHaveTheErrorOfAFloatHoweverLargeTheirExponents) {
  for (Index features : {1, 8, 37, 64})
    for (Index width : {1, 9, 64}) {
      const Index rows = 3;
      const double root_scale = 0.5;
      const std::vector<float> x = random_floats(rows * width, 1, 8 / std::sqrt(static_cast<double>(width)));
      const std::vector<float> projection = random_floats(width * features, 2);
      const std::vector<double> by_input(projection.begin(), projection.end());
      std::vector<float> y(static_cast<std::size_t>(rows * features));
      positive_random_rows({width, features, by_input.data(), root_scale}, rows, x.data(), width, y.data());
      for (Index r = 0; r < rows; ++r)
        for (Index m = 0; m < features; ++m) {
          double exponent = 0;
          for (Index d = 0; d < width; ++d) {
            const double input = root_scale * x[r * width + d];
            exponent += by_input[d * features + m] * input - input * input / 2;
          }
          const double expected = std::exp(exponent) / std::sqrt(static_cast<double>(features));
          EXPECT_NEAR(y[r * features + m], expected, 3e-7 * expected) << features << " of " << width;
        }
    }
}

TEST_P(FeatureMaps, RandomFeaturesFlowAlongTheirSlopes) {
  const Index rows = 2, width = 19, features = 21;
  const float root_scale = 0.5f;
  const std::vector<float> x = random_floats(rows * width, 1), y = random_floats(rows * features, 2),
                           dy = random_floats(rows * features, 3);
  std::vector<float> flow = dy, dx = random_floats(rows * width, 4), sums(rows);
  const std::vector<float> product = dx;
  positive_random_flow_rows(rows, features, y.data(), flow.data(), sums.data());
  positive_random_gradient_rows(rows, width, x.data(), width, sums.data(), root_scale, dx.data(), width);
  for (Index r = 0; r < rows; ++r) {
    double sum = 0;
    for (Index i = r * features; i < (r + 1) * features; ++i) {
      EXPECT_EQ(flow[i], dy[i] * y[i]);
      sum += double{dy[i]} * y[i];
    }
    EXPECT_NEAR(sums[r], sum, 1e-5);
    for (Index i = r * width; i < (r + 1) * width; ++i) {
      EXPECT_NEAR(dx[i], root_scale * (product[i] - root_scale * x[i] * sum), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FeatureMaps, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return std::string(simd_target_name(test.param)); });

}  // namespace
}  // namespace heed::kernels
