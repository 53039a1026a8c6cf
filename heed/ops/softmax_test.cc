#include "heed/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using testing::weighted_sum;

TEST(Softmax, RowsSumToOne) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = random_tensor(dtype, {3, 4, 50}, 1, 5.0), y = Tensor::empty_like(x);
    softmax(x, y);
    const Tensor exact = y.to(DType::f64);
    for (Index r = 0; r < 12; ++r) {
      double sum = 0;
      for (Index j = 0; j < 50; ++j) sum += exact.data<double>()[r * 50 + j];
      EXPECT_NEAR(sum, 1.0, 1e-6);
    }
  }
}

TEST(Softmax, LogSoftmaxIsItsLogarithm) {
  const Tensor x = random_tensor(DType::f64, {7, 30}, 2, 3.0), y = Tensor::empty_like(x), log_y = Tensor::empty_like(x);
  softmax(x, y);
  log_softmax(x, log_y);
  for (Index i = 0; i < y.size(); ++i) EXPECT_NEAR(std::log(y.data<double>()[i]), log_y.data<double>()[i], 1e-12);
}

TEST(Softmax, GradientsMatchFiniteDifferences) {
  const Tensor x = random_tensor(DType::f64, {4, 9}, 3), w = random_tensor(DType::f64, {4, 9}, 4);
  const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
  softmax(x, y);
  softmax_backward(y, w, dx);
  EXPECT_LT(gradient_error([&] { return softmax(x, y), weighted_sum(y, w); }, x, dx), 1e-8);
  log_softmax(x, y);
  log_softmax_backward(y, w, dx);
  EXPECT_LT(gradient_error([&] { return log_softmax(x, y), weighted_sum(y, w); }, x, dx), 1e-8);
}

TEST(Softmax, SinglePrecisionAgreesWithDouble) {
  const Tensor x = random_tensor(DType::f32, {40, 333}, 5, 3.0), dy = random_tensor(DType::f32, {40, 333}, 6);
  const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
  const Tensor y64 = Tensor::empty(DType::f64, {40, 333}), dx64 = Tensor::empty(DType::f64, {40, 333});
  softmax(x, y), softmax(x.to(DType::f64), y64);
  EXPECT_LT(largest_difference(y, y64), 2e-6);
  softmax_backward(y, dy, dx), softmax_backward(y64, dy.to(DType::f64), dx64);
  EXPECT_LT(largest_difference(dx, dx64), 5e-6);
  log_softmax(x, y), log_softmax(x.to(DType::f64), y64);
  EXPECT_LT(largest_difference(y, y64), 2e-6);
  log_softmax_backward(y, dy, dx), log_softmax_backward(y64, dy.to(DType::f64), dx64);
  EXPECT_LT(largest_difference(dx, dx64), 5e-5);
}

TEST(Softmax, WorksInPlace) {
  const Tensor x = random_tensor(DType::f32, {5, 20}, 7), y = Tensor::empty_like(x),
               dy = random_tensor(DType::f32, {5, 20}, 8);
  const Tensor in_place = x.clone(), dx = Tensor::empty_like(x), dx_in_place = dy.clone();
  softmax(x, y), softmax(in_place, in_place);
  EXPECT_TRUE(same_bits(y, in_place));
  softmax_backward(y, dy, dx), softmax_backward(y, dx_in_place, dx_in_place);
  EXPECT_TRUE(same_bits(dx, dx_in_place));
}

TEST(Softmax, MaskedColumnsAtTheEndAreZeroAndChangeNoBit) {
  const Tensor x = random_tensor(DType::f32, {6, 14}, 9), padded = Tensor::empty(DType::f32, {6, 40});
  fill(padded, -std::numeric_limits<double>::infinity());
  copy(x, slice(padded.view(), 1, 0, 14));
  softmax(x, x), softmax(padded, padded);
  EXPECT_TRUE(same_bits(x, slice(padded.view(), 1, 0, 14)));
  EXPECT_TRUE(same_bits(slice(padded.view(), 1, 14, 40), Tensor::zeros(DType::f32, {6, 26})));
}

TEST(Softmax, ThreadsAndOtherRowsChangeNoBit) {
  const Tensor x = random_tensor(DType::f32, {200, 500}, 10), all = Tensor::empty_like(x),
               one = Tensor::empty(DType::f32, {1, 500});
  const int saved = thread_count();
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    softmax(x, all);
    for (Index r = 0; r < 200; r += 33) {
      softmax(slice(x.view(), 0, r, r + 1), one);
      EXPECT_TRUE(same_bits(one, slice(all.view(), 0, r, r + 1)));
    }
  }
  set_thread_count(saved);
}

TEST(Softmax, EmptyRowsAreNoWork) {
  const Tensor none = Tensor::zeros(DType::f32, {0, 4}), narrow = Tensor::zeros(DType::f64, {4, 0});
  EXPECT_NO_THROW(softmax(none, none));
  EXPECT_NO_THROW(log_softmax(narrow, narrow));
}

TEST(Softmax, NamesTheShapesItRefuses) {
  const Tensor x = Tensor::zeros(DType::f32, {2, 3}), y = Tensor::zeros(DType::f32, {3, 2});
  const std::string message = refusal([&] { log_softmax(x, y); });
  EXPECT_NE(message.find("log_softmax"), std::string::npos) << message;
  EXPECT_NE(message.find("f32 [3, 2]"), std::string::npos) << message;
  EXPECT_THROW(softmax(x, Tensor::zeros(DType::f64, {2, 3})), Error);
}

}  // namespace
}  // namespace heed
