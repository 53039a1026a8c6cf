#include "heed/ops/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/linear.h"
#include "heed/ops/softmax.h"
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

// Targets in [1, vocabulary), every fifth one ignored (0) where `with_padding`.
Tensor random_targets(Index rows, Index vocabulary, bool with_padding) {
  Rng rng(9);
  std::vector<std::int32_t> targets;
  for (Index r = 0; r < rows; ++r) {
    const auto target = static_cast<std::int32_t>(1 + rng.below(vocabulary - 1));
    targets.push_back(with_padding && r % 5 == 2 ? 0 : target);
  }
  return Tensor::from(targets, {rows});
}

struct LossProblem {
  LossProblem(DType dtype, Index rows, Index width, Index vocabulary, bool with_padding)
      : x(random_tensor(DType::f32, {rows, width}, 1).to(dtype)),
        weight(random_tensor(DType::f32, {vocabulary, width}, 2, 0.5).to(dtype)),
        bias(random_tensor(DType::f32, {vocabulary}, 3).to(dtype)),
        targets(random_targets(rows, vocabulary, with_padding)),
        dx(random_tensor(dtype, {rows, width}, 4)),
        dweight(Tensor::zeros_like(weight)),
        dbias(Tensor::zeros_like(bias)) {}

  LossResult run(const CrossEntropyOptions& options) const {
    return linear_cross_entropy(x, weight, bias, targets, options, dx, dweight, dbias);
  }
  LossResult forward(const CrossEntropyOptions& options) const {
    return linear_cross_entropy(x, weight, bias, targets, options);
  }

  Tensor x, weight, bias, targets, dx, dweight, dbias;
};

TEST(Loss, IsTheCrossEntropyOfTheWholeLogits) {
  const LossProblem p(DType::f64, 40, 6, 30, true);
  const Tensor log_p = Tensor::empty(DType::f64, {40, 30});
  linear(p.x, p.weight, p.bias, log_p);
  log_softmax(log_p, log_p);
  double nll = 0, smooth = 0;
  Index tokens = 0, correct = 0;
  for (Index r = 0; r < 40; ++r) {
    const std::int32_t t = p.targets.at<std::int32_t>({r});
    if (t == 0) continue;
    ++tokens;
    nll -= log_p.at<double>({r, t});
    bool best = true;
    for (Index v = 0; v < 30; ++v) {
      smooth -= log_p.at<double>({r, v}) / 30;
      best = best && log_p.at<double>({r, v}) <= log_p.at<double>({r, t});
    }
    correct += best;
  }
  const LossResult result = p.forward({.label_smoothing = 0.2});
  EXPECT_EQ(result.tokens, tokens);
  EXPECT_EQ(result.correct, correct);
  EXPECT_NEAR(result.nll_sum, nll, 1e-10);
  EXPECT_NEAR(result.loss_sum, 0.8 * nll + 0.2 * smooth, 1e-10);
  EXPECT_EQ(p.forward({}).loss_sum, p.forward({}).nll_sum);
}

TEST(Loss, GradientsMatchFiniteDifferences) {
  for (double smoothing : {0.0, 0.1, 1.0}) {
    const LossProblem p(DType::f64, 11, 4, 7, true);
    const CrossEntropyOptions options{.label_smoothing = smoothing, .gradient_scale = 0.3};
    p.run(options);
    const auto loss = [&] { return 0.3 * p.forward(options).loss_sum; };
    EXPECT_LT(gradient_error(loss, p.x, p.dx), 1e-8);
    EXPECT_LT(gradient_error(loss, p.weight, p.dweight), 1e-8);
    EXPECT_LT(gradient_error(loss, p.bias, p.dbias), 1e-8);
  }
}

TEST(Loss, SinglePrecisionAgreesWithDoubleOverManyChunks) {
  for (const auto& [rows, vocabulary] : {std::pair<Index, Index>{150, 70000}, {9000, 40}}) {
    const LossProblem single(DType::f32, rows, 8, vocabulary, true), exact(DType::f64, rows, 8, vocabulary, true);
    const CrossEntropyOptions options{.label_smoothing = 0.1, .gradient_scale = 0.01};
    const LossResult a = single.run(options), b = exact.run(options);
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.correct, b.correct);
    EXPECT_NEAR(a.loss_sum / b.loss_sum, 1, 1e-6);
    EXPECT_NEAR(a.nll_sum / b.nll_sum, 1, 1e-6);
    EXPECT_LT(largest_difference(single.dx, exact.dx), 1e-6);
    EXPECT_LT(largest_difference(single.dweight, exact.dweight), 1e-5);
    EXPECT_LT(largest_difference(single.dbias, exact.dbias), 1e-5);
  }
}

TEST(Loss, IgnoredRowsCountForNothing) {
  const LossProblem p(DType::f32, 30, 8, 50, true);
  const LossResult all = p.run({.label_smoothing = 0.1});
  std::vector<std::int32_t> targets;
  const Tensor x = Tensor::empty(DType::f32, {24, 8}), dx = Tensor::empty_like(x);
  for (Index r = 0; r < 30; ++r) {
    if (p.targets.at<std::int32_t>({r}) == 0) {
      EXPECT_TRUE(same_bits(slice(p.dx.view(), 0, r, r + 1), Tensor::zeros(DType::f32, {1, 8})));
      continue;
    }
    const Index next = static_cast<Index>(targets.size());
    copy(slice(p.x.view(), 0, r, r + 1), slice(x.view(), 0, next, next + 1));
    targets.push_back(p.targets.at<std::int32_t>({r}));
  }
  const Tensor dweight = Tensor::zeros_like(p.weight), dbias = Tensor::zeros_like(p.bias);
  const LossResult kept = linear_cross_entropy(x, p.weight, p.bias, Tensor::from(targets, {24}),
                                               {.label_smoothing = 0.1}, dx, dweight, dbias);
  EXPECT_EQ(kept.tokens, 24);
  EXPECT_EQ(kept.loss_sum, all.loss_sum);
  EXPECT_EQ(kept.nll_sum, all.nll_sum);
  EXPECT_TRUE(same_bits(dweight, p.dweight));
  EXPECT_TRUE(same_bits(dbias, p.dbias));
}

TEST(Loss, OnlyIgnoredRowsAreALossOfZero) {
  const LossProblem p(DType::f32, 3, 8, 50, false);
  fill(p.targets, 0);
  const LossResult result = p.run({});
  EXPECT_EQ(result.tokens, 0);
  EXPECT_EQ(result.loss_sum, 0);
  EXPECT_TRUE(same_bits(p.dx, Tensor::zeros_like(p.dx)));
  EXPECT_TRUE(same_bits(p.dweight, Tensor::zeros_like(p.dweight)));
}

TEST(Loss, ANegativeIgnoreIndexKeepsTokenZero) {
  const LossProblem p(DType::f32, 10, 8, 50, true);
  EXPECT_EQ(p.forward({.ignore_index = -100}).tokens, 10);
}

TEST(Loss, ParameterGradientsAccumulate) {
  const LossProblem p(DType::f64, 10, 8, 20, true);
  p.run({});
  const Tensor dweight = p.dweight.clone(), dbias = p.dbias.clone(), dx = p.dx.clone();
  p.run({});
  EXPECT_TRUE(same_bits(p.dx, dx));
  EXPECT_DOUBLE_EQ(p.dweight.at<double>({3, 4}), 2 * dweight.at<double>({3, 4}));
  EXPECT_DOUBLE_EQ(p.dbias.at<double>({3}), 2 * dbias.at<double>({3}));
}

TEST(Loss, ThreadsChangeNoBit) {
  const int saved = thread_count();
  std::vector<LossProblem> problems;
  std::vector<LossResult> results;
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    problems.emplace_back(DType::f32, 200, 32, 30000, true);
    results.push_back(problems.back().run({.label_smoothing = 0.1}));
  }
  set_thread_count(saved);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(results[i].loss_sum, results[0].loss_sum);
    EXPECT_EQ(results[i].nll_sum, results[0].nll_sum);
    EXPECT_TRUE(same_bits(problems[i].dx, problems[0].dx));
    EXPECT_TRUE(same_bits(problems[i].dweight, problems[0].dweight));
    EXPECT_TRUE(same_bits(problems[i].dbias, problems[0].dbias));
  }
}

TEST(Loss, ARowsGradientDoesNotDependOnItsBatch) {
  const LossProblem p(DType::f32, 300, 32, 20000, true);
  p.run({.label_smoothing = 0.1});
  for (Index r : {0, 7, 150, 299}) {
    const Tensor dx = Tensor::empty(DType::f32, {1, 32});
    linear_cross_entropy(slice(p.x.view(), 0, r, r + 1), p.weight, p.bias, slice(p.targets.view(), 0, r, r + 1),
                         {.label_smoothing = 0.1}, dx);
    EXPECT_TRUE(same_bits(dx, slice(p.dx.view(), 0, r, r + 1))) << r;
  }
}

TEST(Loss, WithoutABiasIsABiasOfZero) {
  const LossProblem p(DType::f32, 20, 8, 30, true);
  fill(p.bias, 0);
  const LossResult with = p.run({}), without = linear_cross_entropy(p.x, p.weight, {}, p.targets, {});
  EXPECT_EQ(with.loss_sum, without.loss_sum);
}

TEST(Loss, NamesWhatItRefuses) {
  const LossProblem p(DType::f32, 3, 8, 50, false);
  p.targets.at<std::int32_t>({1}) = 50;
  EXPECT_EQ(refusal([&] { p.run({}); }), "linear_cross_entropy: target 50 of row 1 is outside the vocabulary of 50");
  p.targets.at<std::int32_t>({1}) = 1;
  EXPECT_EQ(refusal([&] { p.run({.label_smoothing = 1.5}); }),
            "linear_cross_entropy: label_smoothing must be in [0, 1], but is 1.5");
  EXPECT_NE(refusal([&] { linear_cross_entropy(p.x, p.x, {}, p.targets, {}, p.weight); }).find("dx and dweight"),
            std::string::npos);
  EXPECT_NE(refusal([&] { linear_cross_entropy(p.x, p.weight, p.x, p.targets, {}); }).find("bias"), std::string::npos);
  EXPECT_NE(refusal([&] { linear_cross_entropy(p.x, p.weight, {}, p.bias, {}); }).find("f32 [50]"), std::string::npos);
}

}  // namespace
}  // namespace heed
