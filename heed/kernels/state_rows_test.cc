#include "heed/kernels/state_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/kernels/target.h"
#include "heed/testing/not_finite.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::kInfinity;
using testing::kNaN;
using testing::random_floats;

constexpr Index kStateWidths[] = {1, 7, 16, 33, 70};

struct StateRows : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

TEST_P(StateRows, SumsAlongBothAxes) {
  for (Index width : kStateWidths) {
    const Index rows = 5, row = width + 3;
    const std::vector<float> x = random_floats(rows * row, 1), weights = random_floats(rows, 2);
    std::vector<float> plain(static_cast<std::size_t>(width), 1), weighted = plain, across(rows);
    add_rows_to_sums(rows, width, x.data(), row, nullptr, plain.data());
    add_rows_to_sums(rows, width, x.data(), row, weights.data(), weighted.data());
    row_sums(rows, width, x.data(), row, across.data());
    for (Index c = 0; c < width; ++c) {
      double sum = 1, weighted_sum = 1;
      for (Index r = 0; r < rows; ++r) sum += x[r * row + c], weighted_sum += double{weights[r]} * x[r * row + c];
      EXPECT_NEAR(plain[c], sum, 1e-5);
      EXPECT_NEAR(weighted[c], weighted_sum, 1e-5);
    }
    for (Index r = 0; r < rows; ++r) {
      double sum = 0;
      for (Index c = 0; c < width; ++c) sum += x[r * row + c];
      EXPECT_NEAR(across[r], sum, 1e-5);
    }
  }
}

TEST_P(StateRows, ZerosBehindARowChangeNoBitOfItsSum) {
  std::vector<float> x = random_floats(40, 1);
  float before, after;
  row_sums(1, 40, x.data(), 40, &before);
  x.resize(90);
  row_sums(1, 90, x.data(), 90, &after);
  EXPECT_EQ(before, after);
}

TEST_P(StateRows, AddsSumsToEveryRow) {
  for (Index width : kStateWidths) {
    const Index rows = 3, row = width + 3;
    const std::vector<float> x = random_floats(rows * row, 1), weights = random_floats(rows, 2),
                             sums = random_floats(width, 3);
    std::vector<float> plain = x, weighted = x;
    add_sums_to_rows(rows, width, sums.data(), nullptr, plain.data(), row);
    add_sums_to_rows(rows, width, sums.data(), weights.data(), weighted.data(), row);
    for (Index i = 0; i < rows * row; ++i) {
      const Index c = i % row;
      EXPECT_NEAR(plain[i], c < width ? double{x[i]} + sums[c] : x[i], 1e-6);
      EXPECT_NEAR(weighted[i], c < width ? x[i] + double{weights[i / row]} * sums[c] : x[i], 1e-6);
    }
  }
}

// Where the reciprocal of the divisor is no normal number, too.
TEST_P(StateRows, DividesByAnythingThatDivides) {
  for (Index width : kStateWidths)
    for (float divisor : {3.0f, -0.7f, 1e-39f, 1e-44f, 3e38f, -2e38f}) {
      const Index row = width + 3;
      std::vector<float> x = random_floats(row, 1), y(static_cast<std::size_t>(row), 77);
      for (float& number : x) number *= std::min(std::abs(divisor), 1.0f);
      divide_rows(1, width, x.data(), row, &divisor, y.data(), row);
      for (Index c = 0; c < width; ++c) {
        const double exact = double{x[c]} / divisor;
        EXPECT_NEAR(y[c], exact, 2e-7 * std::abs(exact) + 1e-45) << divisor;
      }
      EXPECT_EQ(y[width], 77);
    }
}

TEST_P(StateRows, ADivisorOfZeroGivesZeroButOfNaN) {
  const std::vector<float> x{5, kNaN, -1};
  const float zero = 0;
  std::vector<float> y(3);
  divide_rows(1, 3, x.data(), 3, &zero, y.data(), 3);
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 0);
}

TEST_P(StateRows, ClearsWhatLiesBehindARowsEndBeItNaN) {
  for (Index width : kStateWidths) {
    const Index ends[] = {0, width / 2, width}, row = width + 3;
    const float addends[] = {1, 2, 3};
    std::vector<float> x = random_floats(3 * row, 1);
    for (Index r = 0; r < 3; ++r) std::fill(&x[r * row + ends[r]], &x[r * row] + width, kNaN);
    std::vector<float> plain = x, added = x;
    clear_row_ends(3, width, ends, nullptr, plain.data(), row);
    clear_row_ends(3, width, ends, addends, added.data(), row);
    for (Index r = 0; r < 3; ++r)
      for (Index c = 0; c < width; ++c) {
        const Index i = r * row + c;
        EXPECT_EQ(plain[i], c < ends[r] ? x[i] : 0);
        EXPECT_EQ(added[i], c < ends[r] ? x[i] + addends[r] : 0);
      }
  }
}

TEST_P(StateRows, FindsTheOneNumberThatIsNotFinite) {
  for (Index count : kStateWidths)
    for (float spoilt : {kNaN, -kNaN, kInfinity, -kInfinity}) {
      std::vector<float> x(static_cast<std::size_t>(count), -std::numeric_limits<float>::max());
      EXPECT_TRUE(all_finite(count, x.data()));
      x[count - 1] = spoilt;
      EXPECT_FALSE(all_finite(count, x.data()));
      EXPECT_TRUE(all_finite(count - 1, x.data()));
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, StateRows, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return std::string(simd_target_name(test.param)); });

}  // namespace
}  // namespace heed::kernels
