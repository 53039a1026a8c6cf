#include "heed/tasks/time_warp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr Index kMedianOf = 7;

// Of a row, which is mirrored at its ends; one that is too short for that stays.
void take_medians(std::span<double> row) {
  constexpr Index kReach = kMedianOf / 2;
  const Index length = std::ssize(row);
  if (length <= kReach) return;
  const std::vector<double> before(row.begin(), row.end());
  for (Index i = 0; i < length; ++i) {
    std::array<double, kMedianOf> near{};
    for (Index k = -kReach; k <= kReach; ++k) {
      Index at = i + k < 0 ? -(i + k) : i + k;
      if (at >= length) at = 2 * (length - 1) - at;
      near[static_cast<std::size_t>(k + kReach)] = before[static_cast<std::size_t>(at)];
    }
    std::ranges::nth_element(near, near.begin() + kReach);
    row[static_cast<std::size_t>(i)] = near[kReach];
  }
}

}  // namespace

std::vector<double> sharpened(std::span<const float> weights, Index heads, Index rows, Index columns) {
  HEED_CHECK(std::ssize(weights) == heads * rows * columns && heads >= 1, "sharpened: {} weights are not {} x {} x {}",
             weights.size(), heads, rows, columns);
  std::vector<double> mean(static_cast<std::size_t>(rows * columns));
  std::vector<double> one(mean.size());
  for (Index head = 0; head < heads; ++head) {
    const float* from = weights.data() + head * rows * columns;
    for (Index column = 0; column < columns; ++column) {
      double sum = 0, squares = 0;
      for (Index row = 0; row < rows; ++row) sum += double{from[row * columns + column]};
      const double middle = sum / static_cast<double>(rows);
      for (Index row = 0; row < rows; ++row) {
        const double apart = double{from[row * columns + column]} - middle;
        squares += apart * apart;
      }
      const double deviation = std::sqrt(squares / static_cast<double>(rows));
      for (Index row = 0; row < rows; ++row) {
        const double apart = double{from[row * columns + column]} - middle;
        one[static_cast<std::size_t>(row * columns + column)] = deviation > 0 ? apart / deviation : 0;
      }
    }
    for (Index row = 0; row < rows; ++row) {
      take_medians(std::span(one).subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns)));
    }
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / static_cast<double>(heads);
  }
  return mean;
}

std::vector<Index> warped_starts(std::span<const double> matrix, Index rows, Index columns) {
  HEED_CHECK(rows >= 1 && columns >= 1 && std::ssize(matrix) == rows * columns,
             "warped_starts: {} numbers are no {} x {}", matrix.size(), rows, columns);
  enum class Step : std::uint8_t { both, row, column };
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<Step> steps(static_cast<std::size_t>(rows * columns));
  std::vector<double> above(static_cast<std::size_t>(columns) + 1, kNone), here(above.size());
  above[0] = 0;
  for (Index row = 0; row < rows; ++row) {
    here[0] = kNone;
    for (Index column = 0; column < columns; ++column) {
      const auto at = static_cast<std::size_t>(column);
      const double both = above[at], of_row = above[at + 1], of_column = here[at];
      Step step = Step::column;
      if (both > of_row && both > of_column) step = Step::both;
      if (of_row > both && of_row > of_column) step = Step::row;
      steps[static_cast<std::size_t>(row * columns + column)] = step;
      here[at + 1] = matrix[static_cast<std::size_t>(row * columns + column)] + (step == Step::both  ? both
                                                                                 : step == Step::row ? of_row
                                                                                                     : of_column);
    }
    std::swap(above, here);
  }
  std::vector<Index> starts(static_cast<std::size_t>(rows));
  for (Index row = rows - 1, column = columns - 1;;) {
    starts[static_cast<std::size_t>(row)] = column;
    if (row == 0 && column == 0) break;
    Step step = steps[static_cast<std::size_t>(row * columns + column)];
    if (row == 0) step = Step::column;
    if (column == 0) step = Step::row;
    if (step != Step::column) --row;
    if (step != Step::row) --column;
  }
  return starts;
}

}  // namespace heed
