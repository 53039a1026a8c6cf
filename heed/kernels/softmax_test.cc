#include "heed/kernels/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heed/kernels/target.h"
#include "heed/testing/not_finite.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::kInfinity;
using testing::random_floats;

std::vector<double> exact_softmax(const std::vector<float>& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  std::vector<double> p;
  double sum = 0;
  for (float v : x) p.push_back(std::exp(v - largest)), sum += p.back();
  for (double& v : p) v /= sum;
  return p;
}

struct SoftmaxRows : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

const Index kSoftmaxWidths[] = {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 64, 100, 1000, 10000};

TEST_P(SoftmaxRows, AgreeWithDouble) {
  for (Index n : kSoftmaxWidths) {
    const std::vector<float> x = random_floats(n, static_cast<std::uint64_t>(n), 3);
    const std::vector<double> p = exact_softmax(x);
    std::vector<float> y(x.size()), log_y(x.size());
    softmax_row(x.data(), y.data(), n);
    log_softmax_row(x.data(), log_y.data(), n);
    for (std::size_t j = 0; j < x.size(); ++j) {
      // Rounding x - max, of the size of log p, by 2^-24 moves p by as much of itself; the rest is some roundings more.
      ASSERT_NEAR(y[j], p[j], (1e-6 - 0x1p-24 * std::log(p[j])) * p[j]) << n;
      ASSERT_NEAR(log_y[j], std::log(p[j]), 1e-6 * std::abs(std::log(p[j])) + 1e-6) << n;
    }
  }
}

TEST_P(SoftmaxRows, ColumnsOfMinusInfinityChangeNoBit) {
  for (Index n : kSoftmaxWidths) {
    const std::vector<float> x = random_floats(n, static_cast<std::uint64_t>(n), 3);
    std::vector<float> y(x.size()), log_y(x.size());
    softmax_row(x.data(), y.data(), n);
    log_softmax_row(x.data(), log_y.data(), n);
    for (std::size_t more : {1, 5, 16, 40}) {
      std::vector<float> longer = x;
      longer.resize(x.size() + more, -kInfinity);
      std::vector<float> log_longer = longer;
      softmax_row(longer.data(), longer.data(), n + static_cast<Index>(more));
      log_softmax_row(log_longer.data(), log_longer.data(), n + static_cast<Index>(more));
      ASSERT_TRUE(std::equal(y.begin(), y.end(), longer.begin())) << n << " + " << more;
      ASSERT_TRUE(std::equal(log_y.begin(), log_y.end(), log_longer.begin())) << n << " + " << more;
      ASSERT_EQ(*std::max_element(longer.begin() + n, longer.end()), 0.0f);
      ASSERT_EQ(*std::max_element(log_longer.begin() + n, log_longer.end()), -kInfinity);
    }
  }
}

TEST_P(SoftmaxRows, LargeLogitsNeitherOverflowNorVanish) {
  std::vector<float> y{3e38f, 3e38f, -3e38f};
  softmax_row(y.data(), y.data(), 3);
  EXPECT_EQ(y, (std::vector<float>{0.5f, 0.5f, 0.0f}));
}

TEST_P(SoftmaxRows, ANaNAnywhereMakesTheRowNaN) {
  for (std::size_t at : {0u, 5u, 16u, 36u}) {
    std::vector<float> x = random_floats(37, 1, 3), y(37);
    x[at] = std::numeric_limits<float>::quiet_NaN();
    softmax_row(x.data(), y.data(), 37);
    EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](float v) { return std::isnan(v); }));
    log_softmax_row(x.data(), y.data(), 37);
    EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](float v) { return std::isnan(v); }));
    EXPECT_TRUE(std::isnan(cross_entropy_row(x.data(), 37, 3, 0.1, 1, true).nll));
  }
}

TEST_P(SoftmaxRows, BackwardAgreesWithDouble) {
  for (Index n : kSoftmaxWidths) {
    const std::vector<float> x = random_floats(n, 1, 3), dy = random_floats(n, 2, 3);
    const std::vector<double> p = exact_softmax(x);
    std::vector<float> y(x.size()), dx(x.size()), log_dx = dy;
    softmax_row(x.data(), y.data(), n);
    softmax_backward_row(y.data(), dy.data(), dx.data(), n);
    log_softmax_row(x.data(), y.data(), n);
    log_softmax_backward_row(y.data(), log_dx.data(), log_dx.data(), n);
    double dot = 0, total = 0;
    for (std::size_t j = 0; j < x.size(); ++j) dot += p[j] * dy[j], total += dy[j];
    for (std::size_t j = 0; j < x.size(); ++j) {
      ASSERT_NEAR(dx[j], p[j] * (dy[j] - dot), 2e-5 * p[j]) << n;
      ASSERT_NEAR(log_dx[j], dy[j] - p[j] * total, 1e-5 * (std::abs(dy[j]) + p[j] * 100)) << n;
    }
  }
}

TEST_P(SoftmaxRows, CrossEntropyAgreesWithDouble) {
  for (Index n : kSoftmaxWidths) {
    const std::vector<float> x = random_floats(n, 3, 3);
    const std::vector<double> p = exact_softmax(x);
    double mean = 0;
    for (double v : p) mean -= std::log(v) / static_cast<double>(n);
    for (Index target : {Index{0}, n / 2, n - 1}) {
      std::vector<float> logits = x, scratch = x;
      const RowLoss loss = cross_entropy_row(logits.data(), n, target, 0.1, 2.0, true);
      const RowLoss quiet = cross_entropy_row(scratch.data(), n, target, 0.1, 2.0, false);
      const double nll = -std::log(p[static_cast<std::size_t>(target)]);
      ASSERT_NEAR(loss.nll, nll, 1e-6 * (1 + nll));
      ASSERT_NEAR(loss.mean_nll, mean, 1e-6 * (1 + mean));
      ASSERT_EQ(loss.nll, quiet.nll);
      ASSERT_EQ(loss.mean_nll, quiet.mean_nll);
      ASSERT_EQ(loss.correct, std::max_element(x.begin(), x.end()) - x.begin() == target);
      for (Index j = 0; j < n; ++j) {
        const double g =
            2.0 * (p[static_cast<std::size_t>(j)] - (j == target ? 0.9 : 0.0) - 0.1 / static_cast<double>(n));
        ASSERT_NEAR(logits[static_cast<std::size_t>(j)], g, 1e-6) << n << " " << j;
      }
    }
  }
}

TEST_P(SoftmaxRows, OfEqualLogitsTheFirstIsCorrect) {
  for (Index target : {0, 1, 2}) {
    std::vector<float> logits{1, 7, 7};
    EXPECT_EQ(cross_entropy_row(logits.data(), 3, target, 0, 1, false).correct, target == 1);
  }
}

TEST_P(SoftmaxRows, ColumnSumsAddRowsInOrder) {
  for (Index n : kSoftmaxWidths) {
    const Index rows = 5, stride = n + 3;
    const std::vector<float> x = random_floats(rows * stride, 4, 3);
    std::vector<float> sums = random_floats(n, 5, 3), expected = sums;
    for (Index r = 0; r < rows; ++r)
      for (Index j = 0; j < n; ++j)
        expected[static_cast<std::size_t>(j)] += x[static_cast<std::size_t>(r * stride + j)];
    add_column_sums(x.data(), rows, stride, n, sums.data());
    ASSERT_EQ(sums, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Softmax, SoftmaxRows, ::testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return std::string(simd_target_name(target.param)); });

}  // namespace
}  // namespace heed::kernels
