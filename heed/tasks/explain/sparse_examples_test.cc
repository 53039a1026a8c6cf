// The examples of masks, shared heads, tiles and windows.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/tasks/explain/walk_matrices.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

TEST(MaskWalk, RefusedKeysGetNothingAndTheOthersShareAll) {
  const Explanation walk = explain_masks();
  EXPECT_EQ(matrix(walk, "scaled", "scaled").values, matrix(walk, "inputs", "Q").values) << "as the text says";
  EXPECT_EQ(matrix(walk, "causal", "allowed").values, (Values{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(matrix(walk, "padding", "allowed").values, (Values{1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0}));
  for (const char* step : {"causal", "padding", "both"}) {
    const LabelledMatrix &allowed = matrix(walk, step, "allowed"), &weights = matrix(walk, step, "weights");
    for (Index i = 0; i < 4; ++i) {
      double sum = 0, of_allowed = 0;
      for (Index j = 0; j < 4; ++j) {
        sum += weights.value(i, j);
        of_allowed += allowed.value(i, j) * weights.value(i, j);
        if (std::string_view(step) == "both") {
          EXPECT_EQ(allowed.value(i, j),
                    matrix(walk, "causal", "allowed").value(i, j) * matrix(walk, "padding", "allowed").value(i, j));
        }
      }
      EXPECT_NEAR(sum, 1, 1e-15);
      EXPECT_EQ(of_allowed, sum);
    }
  }
  for (double value : matrix(walk, "output", "output").values) EXPECT_LE(value, 1) << "no 9 of <pad>";
}

TEST(GroupedQueries, EachHeadReadsItsGroup) {
  const Explanation walk = explain_grouped_queries();
  EXPECT_EQ(matrix(walk, "sharing", "reads").values, (Values{1, 0, 1, 0, 0, 1, 0, 1}));
  for (Index h = 0; h < 4; ++h) {
    const LabelledMatrix &q = matrix(walk, "heads", "Q", h), &k = matrix(walk, "heads", "K", h / 2);
    const LabelledMatrix &v = matrix(walk, "heads", "V", h / 2), &scaled = matrix(walk, "scaled", "scaled", h);
    const LabelledMatrix &weights = matrix(walk, "weights", "weights", h), &out = matrix(walk, "output", "output", h);
    for (Index i = 0; i < 3; ++i) {
      Values mixed(4);
      for (Index j = 0; j < 3; ++j) {
        double dot = 0;
        for (Index d = 0; d < 4; ++d) dot += q.value(i, d) * k.value(j, d);
        EXPECT_EQ(scaled.value(i, j), dot / 2);
        for (Index d = 0; d < 4; ++d) mixed[static_cast<std::size_t>(d)] += weights.value(i, j) * v.value(j, d);
      }
      for (Index d = 0; d < 4; ++d) {
        EXPECT_NEAR(out.value(i, d), mixed[static_cast<std::size_t>(d)], 1e-15);
        EXPECT_EQ(matrix(walk, "concatenation", "concatenation").value(i, 4 * h + d), out.value(i, d));
      }
    }
  }
  EXPECT_EQ(matrix(walk, "cache", "cache").values, (Values{4, 32, 2, 16, 1, 8}));
}

TEST(FlashAttention, TilesGiveWhatWholeRowsGive) {
  const Explanation walk = explain_flash_attention();
  expect_close(matrix(walk, "output", "output").values, matrix(walk, "whole", "output").values, 1e-14);
  expect_close(matrix(walk, "output", "log_sum_exp").values, matrix(walk, "whole", "log_sum_exp").values, 1e-14);
  EXPECT_EQ(matrix(walk, "whole", "scaled").values, (Values{1, 3, 2, 5, 0, 4, 4, 2, 1, 0, 3, 2}));
}

TEST(FlashAttention, MaximumAndSumRunAlong) {
  const Explanation walk = explain_flash_attention();
  const double infinity = std::numeric_limits<double>::infinity();
  const LabelledMatrix& first = matrix(walk, "tile-1", "statistics");
  EXPECT_EQ(first.value(0, 0), -infinity);
  EXPECT_EQ(first.value(0, 2), 0) << "nothing before the first tile counts";
  expect_close({first.value(0, 3)}, {1 + std::exp(-2.0)}, 1e-15);
  const LabelledMatrix& second = matrix(walk, "tile-2", "statistics");
  expect_close({second.values.begin(), second.values.begin() + 3}, {3, 5, std::exp(-2.0)}, 1e-15);
  EXPECT_EQ(Values(second.values.begin() + 4, second.values.begin() + 7), (Values{4, 4, 1})) << "the maximum stays";
  for (const char* tile : {"tile-1", "tile-2", "tile-3"}) {
    for (double e : matrix(walk, tile, "P").values) EXPECT_LE(e, 1) << "no exponential is larger than 1";
  }
}

TEST(Windows, PatternsAreTheirFormulas) {
  const Explanation walk = explain_windows();
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) {
      const Index back = i - j, apart = std::abs(i - j);
      EXPECT_EQ(matrix(walk, "full", "full").value(i, j), 1);
      EXPECT_EQ(matrix(walk, "causal", "causal").value(i, j), back >= 0);
      EXPECT_EQ(matrix(walk, "window", "window").value(i, j), back >= 0 && back <= 2);
      EXPECT_EQ(matrix(walk, "strided", "strided").value(i, j), back >= 0 && (back <= 4 || back % 4 == 0));
      EXPECT_EQ(matrix(walk, "dilated", "dilated").value(i, j), apart <= 4 && apart % 2 == 0);
      EXPECT_EQ(matrix(walk, "global", "global").value(i, j), apart <= 1 || i == 0 || j == 0);
      EXPECT_EQ(matrix(walk, "reach", "window, twice").value(i, j), back >= 0 && back <= 4);
      EXPECT_EQ(matrix(walk, "reach", "strided, twice").value(i, j), back >= 0) << "as the text says";
      EXPECT_EQ(matrix(walk, "reach", "global, twice").value(i, j), 1) << "as the text says";
      if ((i + j) % 2 == 1) {
        EXPECT_EQ(matrix(walk, "reach", "dilated, twice").value(i, j), 0) << "as the text says";
      }
    }
  }
  const LabelledMatrix& cost = matrix(walk, "cost", "cost");
  EXPECT_EQ(cost.value(0, 0), 144);
  EXPECT_EQ(cost.value(1, 0), 78);
  EXPECT_EQ(cost.value(2, 0), 33);
}

}  // namespace
}  // namespace heed
