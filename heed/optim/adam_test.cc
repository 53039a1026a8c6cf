#include "heed/optim/adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/optim/schedule.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

TEST(Adam, AgreesWithTheTextbookInDouble) {
  const Index n = 1037;
  const Var x = Var::parameter(testing::random_tensor(DType::f32, {n}, 1));
  Adam adam({.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .weight_decay = 0.01}, {x});
  std::vector<double> value(n), m(n, 0), v(n, 0);
  for (Index i = 0; i < n; ++i) value[i] = x.value().data<float>()[i];
  for (int t = 1; t <= 5; ++t) {
    const Tensor g = testing::random_tensor(DType::f32, {n}, 100 + t);
    copy(g, x.grad_accumulator());
    adam.step(0.01, 0.5);
    for (Index i = 0; i < n; ++i) {
      const double gi = 0.5 * g.data<float>()[i];
      value[i] -= 0.01 * 0.01 * value[i];
      m[i] = 0.9 * m[i] + 0.1 * gi;
      v[i] = 0.98 * v[i] + 0.02 * gi * gi;
      value[i] -= 0.01 * (m[i] / (1 - std::pow(0.9, t))) / (std::sqrt(v[i] / (1 - std::pow(0.98, t))) + 1e-9);
    }
  }
  for (Index i = 0; i < n; ++i) ASSERT_NEAR(x.value().data<float>()[i], value[i], 2e-6) << i;
}

TEST(Adam, SameBitsForAnyThreadCount) {
  const int before = thread_count();
  Tensor results[2];
  for (int run = 0; run < 2; ++run) {
    set_thread_count(run + 1);
    const Var x = Var::parameter(testing::random_tensor(DType::f32, {100003}, 3));
    copy(testing::random_tensor(DType::f32, {100003}, 4), x.grad_accumulator());
    Adam adam({}, {x});
    adam.step(0.1, 1 / gradient_norm({x}));
    results[run] = x.value();
  }
  set_thread_count(before);
  EXPECT_TRUE(testing::same_bits(results[0], results[1]));
}

TEST(GradientNorm, IsEuclideanAndShowsWhatIsNotFinite) {
  const Var a = Var::parameter(Tensor::zeros(DType::f32, {3})), b = Var::parameter(Tensor::zeros(DType::f32, {20000}));
  a.grad_accumulator().at<float>({1}) = 3;
  b.grad_accumulator().at<float>({19999}) = 4;
  EXPECT_DOUBLE_EQ(gradient_norm({a, b}), 5);
  b.grad_accumulator().at<float>({5}) = NAN;
  EXPECT_FALSE(std::isfinite(gradient_norm({a, b})));
}

TEST(Schedule, WarmsUpThenFallsWithTheRoot) {
  EXPECT_DOUBLE_EQ(inverse_square_root_rate(1, 100, 50), 0.5);
  EXPECT_DOUBLE_EQ(inverse_square_root_rate(1, 100, 100), 1);
  EXPECT_DOUBLE_EQ(inverse_square_root_rate(1, 100, 400), 0.5);
  EXPECT_DOUBLE_EQ(inverse_square_root_rate(1, 0, 1), 1);
}

}  // namespace
}  // namespace heed
