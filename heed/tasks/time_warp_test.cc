#include "heed/tasks/time_warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;
using Starts = std::vector<Index>;

TEST(WarpedStarts, ADiagonalOfTallNumbersIsThePath) {
  const std::vector<double> matrix{9,  9,  -1, -1, -1, -1,  //
                                   -1, -1, 9,  -1, -1, -1,  //
                                   -1, -1, -1, 9,  9,  9};
  EXPECT_EQ(warped_starts(matrix, 3, 6), (Starts{0, 2, 3}));
}

TEST(WarpedStarts, OfEqualSumsAStepOfAColumnIsTakenFirst) {
  const std::vector<double> matrix{5, 0,  //
                                   0, 5};
  EXPECT_EQ(warped_starts(matrix, 2, 2), (Starts{0, 0}));
}

TEST(WarpedStarts, MoreRowsThanColumnsShareThem) {
  const std::vector<double> matrix{5, -1, -1, 5, -1, 5};
  EXPECT_EQ(warped_starts(matrix, 3, 2), (Starts{0, 1, 1}));
  EXPECT_EQ(warped_starts(std::vector<double>{1, 2, 3}, 1, 3), (Starts{0}));
  EXPECT_EQ(warped_starts(std::vector<double>{1, 2, 3}, 3, 1), (Starts{0, 0, 0}));
}

// The best sum of all paths from a place to the last corner.
double best_from(const std::vector<double>& matrix, Index rows, Index columns, Index row, Index column) {
  const double here = matrix[static_cast<std::size_t>(row * columns + column)];
  if (row == rows - 1 && column == columns - 1) return here;
  double best = -1e300;
  if (row + 1 < rows) best = std::max(best, best_from(matrix, rows, columns, row + 1, column));
  if (column + 1 < columns) best = std::max(best, best_from(matrix, rows, columns, row, column + 1));
  if (row + 1 < rows && column + 1 < columns) {
    best = std::max(best, best_from(matrix, rows, columns, row + 1, column + 1));
  }
  return here + best;
}

// A path is told by its starts but for whether a step was of both: the best of what they leave open.
double sum_of(const std::vector<double>& matrix, Index columns, const Starts& starts) {
  double sum = 0;
  for (std::size_t row = 0; row < starts.size(); ++row) {
    const bool is_last = row + 1 == starts.size();
    const Index end = is_last ? columns - 1 : starts[row + 1];
    for (Index column = starts[row]; column <= end; ++column) {
      const double number = matrix[row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
      const bool is_open = !is_last && column == end && column > starts[row];
      sum += is_open ? std::max(number, 0.0) : number;
    }
  }
  return sum;
}

TEST(WarpedStarts, NoPathIsBetter) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int time = 0; time < 40; ++time) {
    const Index rows = 1 + time % 5, columns = 1 + time % 4;
    std::vector<double> matrix(static_cast<std::size_t>(rows * columns));
    for (double& number : matrix) number = normal(random);
    const Starts starts = warped_starts(matrix, rows, columns);
    EXPECT_EQ(starts.front(), 0);
    EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end()));
    EXPECT_NEAR(sum_of(matrix, columns, starts), best_from(matrix, rows, columns, 0, 0), 1e-9);
  }
}

TEST(Sharpened, AColumnIsJudgedAgainstTheOtherRows) {
  // Both rows look at column 2 the most, but the first more than the second.
  const std::vector<double> sharp = sharpened(std::vector<float>{0.1F, 0.2F, 0.7F, 0.3F, 0.2F, 0.5F}, 1, 2, 3);
  EXPECT_NEAR(sharp[2], 1, 1e-6);
  EXPECT_NEAR(sharp[5], -1, 1e-6);
  EXPECT_NEAR(sharp[0], -1, 1e-6);
  EXPECT_EQ(sharp[1], 0);  // a column of no deviation
}

TEST(Sharpened, OneColumnAmongItsNeighboursIsNoise) {
  std::vector<float> weights(20, 0.0F);
  weights[5] = 1;
  for (double number : sharpened(weights, 1, 2, 10)) EXPECT_EQ(number, 0);
}

TEST(WarpedStarts, WhatIsNoMatrixIsRefused) {
  EXPECT_EQ(refusal([] { warped_starts({}, 0, 0); }), "warped_starts: 0 numbers are no 0 x 0");
  EXPECT_EQ(refusal([] { sharpened({}, 1, 1, 1); }), "sharpened: 0 weights are not 1 x 1 x 1");
}

}  // namespace
}  // namespace heed
