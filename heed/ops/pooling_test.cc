#include "heed/ops/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::same_bits;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Two sequences of three positions: of the second only the first counts.
struct Pooled {
  Tensor x = Tensor::from<float>({1, 5, 3, 4, 2, 9, -1, -2, 50, 60, 70, 80}, {2, 3, 2});
  Tensor padding = Tensor::zeros(DType::boolean, {2, 3});
  Tensor y = Tensor::empty(DType::f32, {2, 2}), at = Tensor::empty(DType::i32, {2, 2});
  Pooled() { padding.at<bool>({1, 1}) = padding.at<bool>({1, 2}) = true; }
};

TEST(Pooling, TakesTheMeanAndTheGreatestOfWhatIsNotLeftOut) {
  const Pooled p;
  mean_pool(p.x, p.padding, p.y);
  EXPECT_TRUE(same_bits(p.y, Tensor::from<float>({2, 6, -1, -2}, {2, 2})));
  max_pool(p.x, p.padding, p.y, p.at);
  EXPECT_TRUE(same_bits(p.y, Tensor::from<float>({3, 9, -1, -2}, {2, 2})));
  EXPECT_TRUE(same_bits(p.at, Tensor::from<std::int32_t>({1, 2, 0, 0}, {2, 2})));
  mean_pool(p.x, {}, p.y);
  EXPECT_TRUE(same_bits(p.y, Tensor::from<float>({2, 6, 119.0f / 3, 46}, {2, 2})));
}

TEST(Pooling, WhatIsLeftOutHasNoEffectEvenWhereItIsNaN) {
  const Pooled p;
  const Tensor y = Tensor::empty_like(p.y);
  for (const bool greatest : {false, true}) {
    const auto pool = [&](const Tensor& out) {
      if (greatest) return max_pool(p.x, p.padding, out, p.at);
      mean_pool(p.x, p.padding, out);
    };
    p.x.at<float>({1, 2, 0}) = 70;
    pool(p.y);
    p.x.at<float>({1, 2, 0}) = kNan;
    pool(y);
    EXPECT_TRUE(same_bits(y, p.y));
    p.x.at<float>({0, 1, 1}) = kNan;  // and one that counts
    pool(y);
    EXPECT_TRUE(std::isnan(y.at<float>({0, 1})));
    EXPECT_EQ(y.at<float>({0, 0}), p.y.at<float>({0, 0}));
    p.x.at<float>({0, 1, 1}) = 4;
  }
}

TEST(Pooling, ASequenceOfWhichNothingIsLeftIsZeroAndHasNoGradient) {
  const Pooled p;
  p.padding.at<bool>({1, 0}) = true;
  const Tensor dy = random_tensor(DType::f32, {2, 2}, 1), dx = random_tensor(DType::f32, {2, 3, 2}, 2);
  const Tensor none = Tensor::zeros(DType::f32, {1, 2}), no_gradient = Tensor::zeros(DType::f32, {1, 3, 2});
  mean_pool(p.x, p.padding, p.y);
  EXPECT_TRUE(same_bits(p.y.rows(1, 2), none));
  mean_pool_backward(p.padding, dy, dx);
  EXPECT_TRUE(same_bits(dx.rows(1, 2), no_gradient));
  max_pool(p.x, p.padding, p.y, p.at);
  EXPECT_TRUE(same_bits(p.y.rows(1, 2), none));
  EXPECT_EQ(p.at.at<std::int32_t>({1, 0}), -1);
  max_pool_backward(p.at, dy, dx);
  EXPECT_TRUE(same_bits(dx.rows(1, 2), no_gradient));
}

TEST(Pooling, MorePaddingAndOtherSequencesChangeNoBit) {
  const Tensor x = random_tensor(DType::f32, {3, 9, 300}, 1), one = Tensor::empty(DType::f32, {1, 5, 300});
  copy(slice(x.rows(1, 2).view(), 1, 0, 5), one);
  const Tensor padding = Tensor::zeros(DType::boolean, {3, 9});
  for (Index l = 5; l < 9; ++l) padding.at<bool>({1, l}) = true;
  const Tensor y = Tensor::empty(DType::f32, {3, 300}), alone = Tensor::empty(DType::f32, {1, 300});
  mean_pool(x, padding, y);
  mean_pool(one, {}, alone);
  EXPECT_TRUE(same_bits(y.rows(1, 2), alone));
}

TEST(Pooling, RefusesWhatDoesNotFit) {
  const Pooled p;
  EXPECT_THROW(mean_pool(p.x, Tensor::zeros(DType::boolean, {2, 2}), p.y), Error);
  EXPECT_THROW(mean_pool(p.x, Tensor::zeros(DType::i32, {2, 3}), p.y), Error);
  EXPECT_THROW(mean_pool(p.x, {}, Tensor::zeros(DType::f32, {2, 3})), Error);
  EXPECT_THROW(max_pool(p.x, {}, p.y, Tensor::zeros(DType::i64, {2, 2})), Error);
  const Tensor beyond = Tensor::from<std::int32_t>({0, 3, 0, 0}, {2, 2});
  EXPECT_THROW(max_pool_backward(beyond, p.y, p.x), Error);
}

}  // namespace
}  // namespace heed
