#include "heed/optim/adagrad.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

TEST(Adagrad, AgreesWithTheTextbookInDouble) {
  const Index n = 1037;
  const Var x = Var::parameter(testing::random_tensor(DType::f32, {n}, 1));
  Adagrad adagrad({.epsilon = 1e-5, .rate_decay = 0.2, .l2_penalty = 0.01}, {x});
  std::vector<double> value(x.value().data<float>(), x.value().data<float>() + n), s(n, 0);
  for (int t = 0; t < 5; ++t) {
    const Tensor g = testing::random_tensor(DType::f32, {n}, 100 + t);
    copy(g, x.grad_accumulator());
    adagrad.step(0.05, 0.5);
    for (Index i = 0; i < n; ++i) {
      const double gi = 0.5 * g.data<float>()[i] + 0.01 * value[i];
      s[i] += gi * gi;
      value[i] -= 0.05 / (1 + 0.2 * t) * gi / (std::sqrt(s[i]) + 1e-5);
    }
  }
  EXPECT_EQ(adagrad.updates(), 5);
  for (Index i = 0; i < n; ++i) {
    ASSERT_NEAR(x.value().data<float>()[i], value[i], 2e-6) << i;
    ASSERT_NEAR(adagrad.squares(0).data<float>()[i], s[i], 2e-6) << i;
  }
}

TEST(Adagrad, TheFirstStepIsTheRateWhateverTheGradientsSize) {
  const Var x = Var::parameter(Tensor::zeros(DType::f32, {3}));
  copy(Tensor::from(std::vector<float>{1e-3f, 1, -1e3f}, {3}), x.grad_accumulator());
  Adagrad({}, {x}).step(0.25);
  const float signs[] = {1, 1, -1};
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(x.value().data<float>()[i], -0.25f * signs[i], 1e-6) << i;
}

TEST(Adagrad, SameBitsForAnyThreadCount) {
  const int before = thread_count();
  Tensor results[2];
  for (int run = 0; run < 2; ++run) {
    set_thread_count(run + 1);
    const Var x = Var::parameter(testing::random_tensor(DType::f32, {100003}, 3));
    copy(testing::random_tensor(DType::f32, {100003}, 4), x.grad_accumulator());
    Adagrad adagrad({}, {x});
    adagrad.step(0.1);
    adagrad.step(0.1);
    results[run] = x.value();
  }
  set_thread_count(before);
  EXPECT_TRUE(testing::same_bits(results[0], results[1]));
}

TEST(Adagrad, TakesSinglePrecisionOnly) {
  EXPECT_EQ(testing::refusal([] { Adagrad({}, {Var::parameter(Tensor::zeros(DType::f64, {2}))}); }),
            "Adagrad: parameters must be f32, but one is f64 [2]");
}

}  // namespace
}  // namespace heed
