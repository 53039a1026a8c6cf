// Each part of the bias against the numbers that its paper's formula gives, written out by hand.
#include "heed/ops/attention/problem/bias_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {
namespace {

constexpr float kInfinity = HUGE_VALF;

// The bias of row i of head h of batch element b.
std::vector<float> row(const Bias& bias, const Mask& mask, const MaskShape& shape, Index b, Index h, Index i) {
  const BiasRows rows(bias, MaskRows(mask, shape), shape, DType::f32, "test");
  std::vector<float> scores(static_cast<std::size_t>(shape.keys), 0.0f);
  rows.add(b, h, i, {0, shape.keys}, scores.data());
  return scores;
}

Mask anchored(Anchor anchor) { return {.anchor = anchor}; }

// Press et al. 2022, section 3: -m |i - j|; figure 3 has the head slopes 1/2, 1/4, ... of 8 heads.
TEST(Bias, AlibiFallsWithTheDistanceFromTheQuerysPosition) {
  const Tensor slopes = Tensor::zeros(DType::f32, {8});
  alibi_slopes(slopes);
  for (Index h = 0; h < 8; ++h) EXPECT_EQ(slopes.at<float>({h}), std::exp2(-static_cast<float>(h + 1)));
  Bias bias;
  bias.alibi = slopes;
  EXPECT_EQ(row(bias, anchored(Anchor::start), {1, 8, 3, 4}, 0, 1, 2), (std::vector<float>{-0.5f, -0.25f, 0, -0.25f}));
  EXPECT_EQ(row(bias, anchored(Anchor::end), {1, 8, 3, 4}, 0, 0, 2), (std::vector<float>{-1.5f, -1, -0.5f, 0}));
  // Between two powers of two: those of 4 heads, then every other one of 8.
  const Tensor six = Tensor::zeros(DType::f32, {6});
  alibi_slopes(six);
  const float expected[] = {0.25f, 0.0625f, 0.015625f, 0.00390625f, 0.5f, 0.125f};
  for (Index h = 0; h < 6; ++h) EXPECT_EQ(six.at<float>({h}), expected[h]);
}

// A table whose number is its own bucket.
Tensor buckets(Index count) {
  const Tensor table = Tensor::zeros(DType::f32, {count, 1});
  for (Index at = 0; at < count; ++at) table.at<float>({at, 0}) = static_cast<float>(at);
  return table;
}

// Raffel et al. 2020, section 2.1, as T5 does it: of 4 buckets to a side with max_distance 8, two are of one distance
// each, and the others hold 2 + floor(2 log(d / 2) / log(8 / 2)): d = 2, 3, and all from 4 on.
TEST(Bias, RelativePositionsShareLogarithmicBuckets) {
  const Tensor eight = buckets(8), four = buckets(4);
  Bias bias;
  bias.relative = {.table = eight, .bidirectional = true, .max_distance = 8};
  EXPECT_EQ(row(bias, anchored(Anchor::start), {1, 1, 6, 12}, 0, 0, 5),
            (std::vector<float>{3, 3, 2, 2, 1, 0, 5, 6, 6, 7, 7, 7}));
  bias.relative = {.table = four, .bidirectional = false, .max_distance = 8};
  EXPECT_EQ(row(bias, anchored(Anchor::start), {1, 1, 6, 8}, 0, 0, 5), (std::vector<float>{3, 3, 2, 2, 1, 0, 0, 0}));
  EXPECT_EQ(row(bias, anchored(Anchor::end), {1, 1, 1, 6}, 0, 0, 0), (std::vector<float>{3, 3, 2, 2, 1, 0}));
}

// T5's own sizes: 32 buckets both ways, 8 exact to a side, and 8 + floor(8 log(d / 8) / log(16)) up to 128.
TEST(Bias, RelativePositionsHaveT5sBucketsAtT5sSizes) {
  const Tensor table = buckets(32);
  Bias bias;
  bias.relative.table = table;
  const std::vector<float> after = row(bias, anchored(Anchor::start), {1, 1, 1, 200}, 0, 0, 0);
  const struct {
    std::size_t distance;
    float bucket;
  } known[] = {{0, 0},   {1, 17},  {7, 23},  {8, 24},  {11, 24},  {12, 25}, {16, 26},
               {23, 27}, {32, 28}, {64, 30}, {91, 31}, {127, 31}, {199, 31}};
  for (const auto& [distance, bucket] : known) EXPECT_EQ(after[distance], bucket) << distance;
}

// Luong et al. 2015, equation 10: exp(-(s - p)^2 / (2 sigma^2)), here its logarithm.
TEST(Bias, GaussianFallsWithTheSquareOfTheDistanceFromItsCentre) {
  const Tensor centre = Tensor::from(std::vector<float>{0, 1.5f}, {1, 1, 2});
  Bias bias;
  bias.gaussian = {.centre = centre, .sigma = 0.5};
  EXPECT_EQ(row(bias, {}, {2, 3, 2, 4}, 1, 2, 1), (std::vector<float>{-4.5f, -0.5f, -0.5f, -4.5f}));
}

// Neither where it is far from all keys, nor where it is narrow: the lowest number is still a number.
TEST(Bias, AGaussianFarAwayIsNoMask) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  Bias bias;
  bias.gaussian = {.centre = Tensor::from(std::vector<float>{1e30f, 1}, {1, 1, 2}), .sigma = 1};
  EXPECT_EQ(row(bias, {}, {1, 1, 2, 3}, 0, 0, 0), std::vector<float>(3, kLowest));
  EXPECT_EQ(row(bias, {}, {1, 1, 2, 3}, 0, 0, 1), (std::vector<float>{-0.5f, 0, -0.5f}));
  bias.gaussian.sigma = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(row(bias, {}, {1, 1, 2, 3}, 0, 0, 1), (std::vector<float>{kLowest, 0, kLowest}));
}

TEST(Bias, DenseIsBroadcastAlongAxesOfExtentOneInEveryType) {
  const Tensor full = Tensor::zeros(DType::f32, {2, 1, 1, 3});
  full.at<float>({1, 0, 0, 0}) = 0.5f, full.at<float>({1, 0, 0, 2}) = -kInfinity;
  for (DType type : {DType::f32, DType::bf16, DType::f16}) {
    const Tensor dense = type == DType::f32 ? full : full.to(type);
    Bias bias;
    bias.dense = dense;
    EXPECT_EQ(row(bias, {}, {2, 4, 5, 3}, 1, 3, 4), (std::vector<float>{0.5f, 0, -kInfinity})) << name_of(type);
    EXPECT_EQ(row(bias, {}, {2, 4, 5, 3}, 0, 3, 4), (std::vector<float>{0, 0, 0}));
  }
}

TEST(Bias, NumbersByDistanceHaveTheBitsOfTheirRows) {
  Bias bias;
  bias.alibi = Tensor::from(std::vector<float>{0.7f, 1.3f}, {2});
  bias.relative = {.table = Tensor::from(std::vector<float>{0.1f, 5, 0.2f, 6, 0.3f, 7, 0.4f, 8}, {4, 2})};
  const MaskShape shape{1, 2, 5, 9};
  for (const Anchor anchor : {Anchor::start, Anchor::end})
    for (Index h = 0; h < 2; ++h) {
      const BiasRows rows(bias, MaskRows(anchored(anchor), shape), shape, DType::f32, "test");
      const Range distances{1 - shape.keys, shape.queries};
      std::vector<float> numbers(static_cast<std::size_t>(distances.size()));
      rows.fill_by_distance(0, h, distances, numbers.data());
      for (Index i = 0; i < shape.queries; ++i) {
        const std::vector<float> of_row = row(bias, anchored(anchor), shape, 0, h, i);
        for (Index j = 0; j < shape.keys; ++j) {
          EXPECT_EQ(numbers[static_cast<std::size_t>(i - j - distances.begin)], of_row[static_cast<std::size_t>(j)])
              << h << i << j;
        }
      }
    }
}

TEST(Bias, PartsAddUp) {
  const Tensor slopes = Tensor::from(std::vector<float>{2}, {1}), table = buckets(4);
  const Tensor dense = Tensor::from(std::vector<float>{10, 20}, {1, 1, 1, 2});
  const Tensor centre = Tensor::from(std::vector<float>{1}, {1, 1, 1});
  Bias bias;
  bias.alibi = slopes, bias.dense = dense;
  bias.relative = {.table = table, .bidirectional = true, .max_distance = 8};
  bias.gaussian = {.centre = centre, .sigma = 1};
  // dense - 2 |j - 0| + bucket (0; 1 after it: the third of four) - (j - 1)^2 / 2
  EXPECT_EQ(row(bias, anchored(Anchor::start), {1, 1, 1, 2}, 0, 0, 0), (std::vector<float>{9.5f, 21}));
}

}  // namespace
}  // namespace heed
