#include "heed/optim/momentum.h"

#include <gtest/gtest.h>

#include "heed/base/parallel.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

TEST(Momentum, AgreesWithTheTextbookInDouble) {
  const Index n = 1037;
  for (const bool nesterov : {false, true}) {
    const Var x = Var::parameter(testing::random_tensor(DType::f32, {n}, 1));
    Momentum momentum({.momentum = 0.8, .dampening = 0.3, .nesterov = nesterov, .l2_penalty = 0.01}, {x});
    std::vector<double> value(x.value().data<float>(), x.value().data<float>() + n), v(n, 0);
    for (int t = 1; t <= 5; ++t) {
      const Tensor g = testing::random_tensor(DType::f32, {n}, 100 + t);
      copy(g, x.grad_accumulator());
      momentum.step(0.05, 0.5);
      for (Index i = 0; i < n; ++i) {
        const double gi = 0.5 * g.data<float>()[i] + 0.01 * value[i];
        v[i] = 0.8 * v[i] + (t == 1 ? 1 : 0.7) * gi;
        value[i] -= 0.05 * (nesterov ? gi + 0.8 * v[i] : v[i]);
      }
    }
    EXPECT_EQ(momentum.updates(), 5);
    for (Index i = 0; i < n; ++i) {
      ASSERT_NEAR(x.value().data<float>()[i], value[i], 2e-6) << i;
      ASSERT_NEAR(momentum.velocity(0).data<float>()[i], v[i], 2e-6) << i;
    }
  }
}

TEST(Momentum, WithoutMomentumIsGradientDescentWhichAParameterWithoutAGradientSitsOut) {
  const Var x = Var::parameter(testing::random_tensor(DType::f32, {5}, 1)),
            still = Var::parameter(testing::random_tensor(DType::f32, {5}, 2));
  const Tensor before = x.value().clone(), kept = still.value().clone(), g = testing::random_tensor(DType::f32, {5}, 3);
  copy(g, x.grad_accumulator());
  Momentum({.momentum = 0}, {x, still}).step(0.5);
  for (Index i = 0; i < 5; ++i) {
    EXPECT_EQ(x.value().data<float>()[i], before.data<float>()[i] - 0.5f * g.data<float>()[i]);
  }
  EXPECT_TRUE(testing::same_bits(still.value(), kept));
}

TEST(Momentum, SameBitsForAnyThreadCount) {
  const int before = thread_count();
  Tensor results[2];
  for (int run = 0; run < 2; ++run) {
    set_thread_count(run + 1);
    const Var x = Var::parameter(testing::random_tensor(DType::f32, {100003}, 3));
    copy(testing::random_tensor(DType::f32, {100003}, 4), x.grad_accumulator());
    Momentum momentum({.nesterov = true}, {x});
    momentum.step(0.1);
    momentum.step(0.1);
    results[run] = x.value();
  }
  set_thread_count(before);
  EXPECT_TRUE(testing::same_bits(results[0], results[1]));
}

TEST(Momentum, TakesSinglePrecisionOnly) {
  EXPECT_EQ(testing::refusal([] { Momentum({}, {Var::parameter(Tensor::zeros(DType::f64, {2}))}); }),
            "Momentum: parameters must be f32, but one is f64 [2]");
}

}  // namespace
}  // namespace heed
