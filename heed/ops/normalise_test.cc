#include "heed/ops/normalise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::same_bits;
using testing::weighted_sum;

constexpr double kEps = 1e-5;

// One call's operands and results, of either normalisation.
struct Case {
  bool centred;
  Tensor x, gamma, beta, dy, y, mean, rstd, dx, dgamma, dbeta;

  Case(bool layer, DType dtype, Index rows, Index width) : centred(layer) {
    x = random_tensor(dtype, {rows, width}, 1, 2.0);
    gamma = random_tensor(dtype, {width}, 2);
    beta = layer ? random_tensor(dtype, {width}, 3) : Tensor();
    dy = random_tensor(dtype, {rows, width}, 4);
    y = Tensor::zeros_like(x);
    dx = Tensor::zeros_like(x);
    mean = layer ? Tensor::zeros(dtype, {rows}) : Tensor();
    rstd = Tensor::zeros(dtype, {rows});
    dgamma = Tensor::zeros(dtype, {width});
    dbeta = layer ? Tensor::zeros(dtype, {width}) : Tensor();
  }
  Case to_double() const {
    Case other(centred, DType::f64, x.dim(0), x.dim(1));
    for (auto [from, to] : {std::pair{&x, &other.x}, {&gamma, &other.gamma}, {&beta, &other.beta}, {&dy, &other.dy}}) {
      if (!from->is_empty()) *to = from->to(DType::f64);
    }
    return other;
  }
  void forward() const {
    if (centred) return layer_norm(x, gamma, beta, kEps, y, mean, rstd);
    rms_norm(x, gamma, kEps, y, rstd);
  }
  void backward() const {
    if (centred) return layer_norm_backward(x, gamma, mean, rstd, dy, dx, dgamma, dbeta);
    rms_norm_backward(x, gamma, rstd, dy, dx, dgamma);
  }
};

TEST(Normalise, RowsOfLayerNormHaveMeanZeroAndVarianceOne) {
  const Tensor x = random_tensor(DType::f64, {2, 3, 50}, 1, 5.0), y = Tensor::empty_like(x);
  layer_norm(x, View(), View(), 0, y, View(), View());
  for (Index r = 0; r < 6; ++r) {
    double sum = 0, squares = 0;
    for (Index j = 0; j < 50; ++j) {
      const double v = y.data<double>()[r * 50 + j];
      sum += v;
      squares += v * v;
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(squares / 50, 1, 1e-12);
  }
}

TEST(Normalise, MatchesAnExampleWorkedByHand) {
  const Tensor x = Tensor::from<double>({1, 3}, {1, 2}), gamma = Tensor::from<double>({2, 3}, {2});
  const Tensor beta = Tensor::from<double>({10, 20}, {2}), y = Tensor::empty_like(x);
  layer_norm(x, gamma, beta, 3, y, View(), View());  // mean 2, variance 1, rstd 1/2
  EXPECT_DOUBLE_EQ(y.at<double>({0, 0}), 9);
  EXPECT_DOUBLE_EQ(y.at<double>({0, 1}), 21.5);
  rms_norm(x, gamma, 4, y, View());  // the mean square is 5, rstd 1/3
  EXPECT_DOUBLE_EQ(y.at<double>({0, 0}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(y.at<double>({0, 1}), 3);
}

TEST(Normalise, BackwardIsTheDerivative) {
  for (bool centred : {true, false}) {
    for (Index width : {1, 2, 7}) {
      const Case c(centred, DType::f64, 3, width);
      c.forward();
      c.backward();
      const auto loss = [&] { return c.forward(), weighted_sum(c.y, c.dy); };
      EXPECT_LT(gradient_error(loss, c.x, c.dx), 1e-6) << width;
      EXPECT_LT(gradient_error(loss, c.gamma, c.dgamma), 1e-7);
      if (centred) {
        EXPECT_LT(gradient_error(loss, c.beta, c.dbeta), 1e-7);
      }
    }
  }
}

TEST(Normalise, FloatAgreesWithDoubleOnEveryTarget) {
  for (bool centred : {true, false}) {
    for (Index width : {1, 3, 17, 31, 512}) {
      const Case c(centred, DType::f32, 130, width);
      const Case d = c.to_double();
      d.forward();
      d.backward();
      // A row of one is all rounding: its deviation from its mean is 0, its rstd 1 / sqrt(eps).
      const double magnify = width == 1 ? 1 / std::sqrt(kEps) : width == 3 ? 30 : 1;
      for (std::int64_t target : simd_targets()) {
        force_simd_target(target);
        fill(c.dgamma, 0);
        if (centred) fill(c.dbeta, 0);
        c.forward();
        c.backward();
        EXPECT_LT(largest_difference(c.y, d.y), 30 * magnify * 0x1p-23) << width;
        EXPECT_LT(largest_difference(c.rstd, d.rstd), 30 * magnify * 0x1p-23) << width;
        EXPECT_LT(largest_difference(c.dx, d.dx), 100 * magnify * 0x1p-23) << width;
        // 130 terms.
        EXPECT_LT(largest_difference(c.dgamma, d.dgamma), 130 * magnify * 0x1p-23) << width;
        if (centred) {
          EXPECT_LT(largest_difference(c.dbeta, d.dbeta), 130 * 0x1p-23) << width;
        }
      }
      force_simd_target(0);
    }
  }
}

TEST(Normalise, ParameterGradientsAccumulateAndActivationGradientsOverwrite) {
  for (bool centred : {true, false}) {
    const Case once(centred, DType::f64, 70, 5), twice(centred, DType::f64, 70, 5);
    once.forward();
    once.backward();
    twice.forward();
    twice.backward();
    twice.backward();
    EXPECT_TRUE(same_bits(once.dx, twice.dx));
    for (Index j = 0; j < 5; ++j) {
      EXPECT_NEAR(twice.dgamma.at<double>({j}), 2 * once.dgamma.at<double>({j}), 1e-12);
      if (centred) {
        EXPECT_NEAR(twice.dbeta.at<double>({j}), 2 * once.dbeta.at<double>({j}), 1e-12);
      }
    }
  }
}

TEST(Normalise, HasTheSameBitsOnAnyThreadsAndForARowAlone) {
  const int before = thread_count();
  for (bool centred : {true, false}) {
    set_thread_count(1);
    const Case one(centred, DType::f32, 333, 131);
    one.forward();
    one.backward();
    for (int threads : {2, 3}) {
      set_thread_count(threads);
      const Case many(centred, DType::f32, 333, 131);
      many.forward();
      many.backward();
      EXPECT_TRUE(same_bits(one.y, many.y));
      EXPECT_TRUE(same_bits(one.dx, many.dx));
      EXPECT_TRUE(same_bits(one.dgamma, many.dgamma));
      if (centred) {
        EXPECT_TRUE(same_bits(one.dbeta, many.dbeta));
      }
    }
    Case row(centred, DType::f32, 1, 131);
    row.x = Tensor::copy_of(slice(one.x, 0, 200, 201));
    row.dy = Tensor::copy_of(slice(one.dy, 0, 200, 201));
    row.forward();
    row.backward();
    EXPECT_TRUE(same_bits(row.y, slice(one.y, 0, 200, 201)));
    EXPECT_TRUE(same_bits(row.dx, slice(one.dx, 0, 200, 201)));
  }
  set_thread_count(before);
}

TEST(Normalise, WorksInPlaceAndWithoutParameters) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Case c(true, dtype, 4, 37);
    layer_norm(c.x, View(), View(), kEps, c.y, c.mean, c.rstd);
    layer_norm_backward(c.x, View(), c.mean, c.rstd, c.dy, c.dx, View(), View());
    const Tensor gradient = c.dy.clone(), in_place = c.x.clone();
    layer_norm_backward(c.x, View(), c.mean, c.rstd, gradient, gradient, View(), View());
    EXPECT_TRUE(same_bits(gradient, c.dx));
    layer_norm(in_place, View(), View(), kEps, in_place, View(), View());
    EXPECT_TRUE(same_bits(in_place, c.y));
    // Only the parameters' gradients.
    layer_norm_backward(c.x, View(), c.mean, c.rstd, c.dy, View(), c.dgamma, c.dbeta);
    EXPECT_GT(std::abs(weighted_sum(c.dbeta, c.dbeta)), 0);
  }
}

TEST(Normalise, AConstantRowIsBeta) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Case c(true, dtype, 2, 33);
    fill(c.x, 4);
    c.forward();
    EXPECT_TRUE(same_bits(reshape(slice(c.y, 0, 0, 1), {33}), c.beta));
  }
}

TEST(Normalise, NanSpoilsItsRowOnly) {
  for (DType dtype : {DType::f32, DType::f64}) {
    for (bool centred : {true, false}) {
      const Case c(centred, dtype, 3, 19);
      fill(slice(slice(c.x, 0, 1, 2), 1, 18, 19), std::nan(""));
      c.forward();
      c.backward();
      const Tensor y = c.y.to(DType::f64), dx = c.dx.to(DType::f64);
      for (Index j = 0; j < 19; ++j) {
        for (Index r = 0; r < 3; ++r) {
          EXPECT_EQ(std::isnan(y.at<double>({r, j})), r == 1);
          EXPECT_EQ(std::isnan(dx.at<double>({r, j})), r == 1);
        }
      }
    }
  }
}

TEST(Normalise, RefusesOperandsThatDoNotFit) {
  const Case c(true, DType::f32, 4, 6);
  const Tensor six = Tensor::zeros(DType::f64, {6}), five = Tensor::zeros(DType::f32, {5});
  EXPECT_THROW(layer_norm(c.x, five, View(), kEps, c.y, View(), View()), Error);
  EXPECT_THROW(layer_norm(c.x, View(), six, kEps, c.y, View(), View()), Error);
  EXPECT_THROW(layer_norm(c.x, View(), View(), -1, c.y, View(), View()), Error);
  EXPECT_THROW(layer_norm(c.x, View(), View(), kEps, five, View(), View()), Error);
  EXPECT_THROW(layer_norm(c.x, View(), View(), kEps, c.y, five, View()), Error);
  EXPECT_THROW(layer_norm(View(), View(), View(), kEps, c.y, View(), View()), Error);
  EXPECT_THROW(layer_norm_backward(c.x, View(), View(), c.rstd, c.dy, c.dx, View(), View()), Error);
  EXPECT_THROW(layer_norm_backward(c.x, View(), c.mean, View(), c.dy, c.dx, View(), View()), Error);
  EXPECT_THROW(layer_norm_backward(c.x, View(), c.mean, c.rstd, c.dy, c.dx, five, View()), Error);
  EXPECT_THROW(rms_norm(c.x, five, kEps, c.y, View()), Error);
  EXPECT_THROW(rms_norm_backward(c.x, View(), View(), c.dy, c.dx, View()), Error);
}

}  // namespace
}  // namespace heed
