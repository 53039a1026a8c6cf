#include "heed/ops/broadcast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::same_bits;

Tensor ones(std::initializer_list<Index> shape) {
  Tensor tensor = Tensor::empty(DType::f64, shape);
  fill(tensor, 1);
  return tensor;
}

TEST(Broadcast, RepeatsAlongAxesOfOneAndThoseThatAreNotThere) {
  const Tensor y = Tensor::empty(DType::f32, {2, 2, 3});
  broadcast(Tensor::from<float>({1, 2, 3}, {3}), y);
  EXPECT_TRUE(same_bits(y, Tensor::from<float>({1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, {2, 2, 3})));
  broadcast(Tensor::from<float>({1, 2}, {2, 1, 1}), y);
  EXPECT_TRUE(same_bits(y, Tensor::from<float>({1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}, {2, 2, 3})));
  broadcast(Tensor::from<float>({7}, {}), y);
  EXPECT_EQ(y.at<float>({1, 1, 2}), 7);
}

// <broadcast(x), y> = <x, sum_to_shape(y)>.
TEST(Broadcast, SummingIsItsTranspose) {
  const Tensor y = random_tensor(DType::f64, {2, 3, 4, 5}, 1);
  for (const Tensor& x : {ones({2, 3, 4, 5}), ones({5}), ones({1, 1, 4, 1}), ones({2, 1, 1, 5}), ones({3, 1, 1}),
                          ones({2, 1, 4, 1}), ones({}), ones({1, 3, 4, 5}), ones({4, 5}), ones({2, 3, 4, 1})}) {
    for (Index i = 0; i < x.size(); ++i) x.data<double>()[i] = std::sin(static_cast<double>(i) + 1);
    const Tensor repeated = Tensor::empty_like(y), sums = Tensor::empty_like(x);
    broadcast(x, repeated);
    sum_to_shape(y, sums);
    EXPECT_NEAR(testing::weighted_sum(repeated, y), testing::weighted_sum(x, sums), 1e-12) << describe(x.view());
  }
}

TEST(Broadcast, ASumOfNothingIsZeroAndANaNStaysOne) {
  const Tensor sums = ones({1, 3});
  sum_to_shape(Tensor::empty(DType::f64, {0, 3}), sums);
  EXPECT_TRUE(same_bits(sums, Tensor::zeros(DType::f64, {1, 3})));
  const Tensor x = ones({2, 3});
  x.at<double>({1, 1}) = std::numeric_limits<double>::quiet_NaN();
  sum_to_shape(x, sums);
  EXPECT_EQ(sums.at<double>({0, 0}), 2);
  EXPECT_TRUE(std::isnan(sums.at<double>({0, 1})));
}

TEST(Broadcast, ThreadsChangeNoBit) {
  const Tensor x = random_tensor(DType::f32, {40, 30, 700}, 1);
  const int saved = thread_count();
  Tensor columns, rows;
  for (int threads : {1, 3}) {
    set_thread_count(threads);
    const Tensor by_column = Tensor::empty(DType::f32, {30, 700}), by_row = Tensor::empty(DType::f32, {40, 30, 1});
    sum_to_shape(x, by_column);
    sum_to_shape(x, by_row);
    if (threads == 1) columns = by_column, rows = by_row;
    EXPECT_TRUE(same_bits(by_column, columns));
    EXPECT_TRUE(same_bits(by_row, rows));
  }
  set_thread_count(saved);
}

TEST(Broadcast, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(broadcast(ones({2}), ones({2, 3})), Error);
  EXPECT_THROW(broadcast(ones({2, 3}), ones({3})), Error);
  EXPECT_THROW(broadcast(ones({2, 3}), ones({1, 3})), Error);
  EXPECT_THROW(sum_to_shape(ones({2, 3}), ones({2})), Error);
  EXPECT_THROW(broadcast(ones({3}), Tensor::zeros(DType::f32, {2, 3})), Error);
}

}  // namespace
}  // namespace heed
