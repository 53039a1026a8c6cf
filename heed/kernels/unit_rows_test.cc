#include "heed/kernels/unit_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/target.h"
#include "heed/testing/not_finite.h"

namespace heed::kernels {
namespace {

using testing::kNaN;

struct UnitRows : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

std::vector<float> random_row(Index width, std::uint64_t seed, double scale) {
  Rng rng(seed);
  std::vector<float> row(static_cast<std::size_t>(width));
  for (float& value : row) value = static_cast<float>(rng.normal() * scale);
  return row;
}

double length_of(const std::vector<float>& row) {
  double sum = 0;
  for (float value : row) sum += double{value} * value;
  return std::sqrt(sum);
}

// Also where the square of a number is no f32.
TEST_P(UnitRows, HaveLengthOneOrAreDividedByTheLeastLength) {
  for (Index width : {1, 3, 8, 17, 64, 70})
    for (double scale : {1.0, 1e-30, 1e30}) {
      const std::vector<float> x = random_row(width, 1, scale);
      std::vector<float> y(x.size());
      unit_rows(1, width, x.data(), width, y.data(), width);
      const double length = std::max(length_of(x), 1e-8);
      for (std::size_t d = 0; d < x.size(); ++d) EXPECT_NEAR(y[d], x[d] / length, 1.2e-7 * std::abs(x[d] / length));
    }
}

TEST_P(UnitRows, FlowAcrossTheirDirectionAlone) {
  for (Index width : {1, 3, 8, 17, 64, 70})
    for (double scale : {1.0, 1e-9 / 64, 1e6}) {
      const std::vector<float> x = random_row(width, 1, scale), dy = random_row(width, 2, 1);
      std::vector<float> dx = dy;
      unit_rows_backward(1, width, x.data(), width, dx.data(), width);
      const double length = length_of(x), divisor = std::max(length, 1e-8);
      double along = 0;
      for (std::size_t d = 0; d < x.size() && length > 1e-8; ++d) along += x[d] / length * dy[d];
      for (std::size_t d = 0; d < x.size(); ++d) {
        EXPECT_NEAR(dx[d], (dy[d] - x[d] / divisor * along) / divisor, 1e-6 / divisor) << width << " " << scale;
      }
    }
}

TEST_P(UnitRows, ARowWithoutAGradientStaysZeroBeItNaN) {
  const std::vector<float> x(20, kNaN);
  std::vector<float> dx(20, 0.0f);
  unit_rows_backward(1, 20, x.data(), 20, dx.data(), 20);
  for (float value : dx) EXPECT_EQ(value, 0);
  dx[3] = 1;
  unit_rows_backward(1, 20, x.data(), 20, dx.data(), 20);
  for (float value : dx) EXPECT_TRUE(std::isnan(value));
}

INSTANTIATE_TEST_SUITE_P(Targets, UnitRows, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return std::string(simd_target_name(test.param)); });

}  // namespace
}  // namespace heed::kernels
