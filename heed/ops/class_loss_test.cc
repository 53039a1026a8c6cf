#include "heed/ops/class_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/loss.h"
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

constexpr Index kExamples = 5, kClasses = 4, kPositions = 3;
constexpr std::int32_t kIgnored = -7;

// [5, 4, 3] with every fourth position ignored where `ignore`.
struct ClassLossProblem {
  ClassLossProblem(DType dtype, Reduction reduction, bool weighted, bool ignore)
      : logits(random_tensor(DType::f64, {kExamples, kClasses, kPositions}, 1).to(dtype)),
        targets(Tensor::empty(DType::i32, {kExamples, kPositions})),
        options{.reduction = reduction, .ignore_index = ignore ? std::optional(kIgnored) : std::nullopt},
        loss(reduction == Reduction::none ? Tensor::empty(dtype, {kExamples, kPositions}) : Tensor::empty(dtype, {})),
        dloss(random_tensor(DType::f64, {loss.size()}, 3).to(dtype)),
        log_p(Tensor::empty_like(logits.view())),
        gradient(Tensor::empty_like(logits.view())) {
    Rng rng(2);
    for (Index r = 0; r < targets.size(); ++r) {
      targets.data<std::int32_t>()[r] =
          ignore && r % 4 == 1 ? kIgnored : static_cast<std::int32_t>(rng.below(kClasses));
    }
    if (weighted) weight = Tensor::from(std::vector<double>{0.5, 2, 0, 1.25}, {kClasses}).to(dtype);
    dloss = reduction == Reduction::none ? dloss.reshape({kExamples, kPositions}) : dloss.reshape({});
  }

  double objective() const {  // what the gradients are of
    return testing::weighted_sum(loss.reshape({loss.size()}), dloss.reshape({loss.size()}));
  }

  Tensor logits, targets, weight;
  ClassLossOptions options;
  Tensor loss, dloss, log_p, gradient;
};

template <typename Body>
void for_each_kind(const Body& body) {
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean})
    for (const bool weighted : {false, true})
      for (const bool ignore : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "reduction " << static_cast<int>(reduction) << ", weighted " << weighted
                                          << ", ignore " << ignore);
        body(reduction, weighted, ignore);
      }
}

TEST(ClassLoss, IsTheWeightedNegativeLogOfTheTargetsSoftmax) {
  for_each_kind([](Reduction reduction, bool weighted, bool ignore) {
    const ClassLossProblem p(DType::f64, reduction, weighted, ignore);
    cross_entropy(p.logits, p.targets, p.weight, p.options, p.loss, p.log_p);
    double sum = 0, weights = 0;
    for (Index n = 0; n < kExamples; ++n)
      for (Index s = 0; s < kPositions; ++s) {
        const std::int32_t t = p.targets.at<std::int32_t>({n, s});
        double value = 0;
        if (t != kIgnored) {
          double total = 0;
          for (Index c = 0; c < kClasses; ++c) total += std::exp(p.logits.at<double>({n, c, s}));
          const double w = weighted ? p.weight.at<double>({t}) : 1;
          value = -w * std::log(std::exp(p.logits.at<double>({n, t, s})) / total);
          weights += w;
        }
        if (reduction == Reduction::none) {
          EXPECT_NEAR(p.loss.at<double>({n, s}), value, 1e-14);
        }
        sum += value;
      }
    if (reduction != Reduction::none) {
      EXPECT_NEAR(p.loss.at<double>({}), reduction == Reduction::sum ? sum : sum / weights, 1e-13);
    }
  });
}

TEST(ClassLoss, GradientsMatchFiniteDifferences) {
  for_each_kind([](Reduction reduction, bool weighted, bool ignore) {
    const ClassLossProblem p(DType::f64, reduction, weighted, ignore);
    cross_entropy(p.logits, p.targets, p.weight, p.options, p.loss, p.log_p);
    cross_entropy_backward(p.log_p, p.targets, p.weight, p.options, p.dloss, p.gradient);
    EXPECT_LT(gradient_error(
                  [&] {
                    cross_entropy(p.logits, p.targets, p.weight, p.options, p.loss, {});
                    return p.objective();
                  },
                  p.logits, p.gradient),
              1e-8);
    nll_loss_backward(p.targets, p.weight, p.options, p.dloss, p.gradient);
    EXPECT_LT(gradient_error(
                  [&] {
                    nll_loss(p.log_p, p.targets, p.weight, p.options, p.loss);
                    return p.objective();
                  },
                  p.log_p, p.gradient),
              1e-8);
  });
}

TEST(ClassLoss, SinglePrecisionAgreesWithDouble) {
  for_each_kind([](Reduction reduction, bool weighted, bool ignore) {
    const ClassLossProblem single(DType::f32, reduction, weighted, ignore),
        exact(DType::f64, reduction, weighted, ignore);
    for (const ClassLossProblem* p : {&single, &exact}) {
      cross_entropy(p->logits, p->targets, p->weight, p->options, p->loss, p->log_p);
      cross_entropy_backward(p->log_p, p->targets, p->weight, p->options, p->dloss, p->gradient);
    }
    EXPECT_LT(largest_difference(single.loss, exact.loss), 1e-6);
    EXPECT_LT(largest_difference(single.gradient, exact.gradient), 1e-6);
  });
}

TEST(ClassLoss, OfTokensIsThatOfTheProjectedModel) {
  const Tensor logits = random_tensor(DType::f64, {6, 9}, 4), identity = Tensor::zeros(DType::f64, {9, 9});
  for (Index i = 0; i < 9; ++i) identity.at<double>({i, i}) = 1;
  const Tensor targets = Tensor::from(std::vector<std::int32_t>{3, 0, 8, 1, 0, 5}, {6}),
               loss = Tensor::empty(DType::f64, {});
  cross_entropy(logits, targets, {}, {.reduction = Reduction::sum, .ignore_index = 0}, loss, {});
  EXPECT_NEAR(loss.at<double>({}), linear_cross_entropy(logits, identity, {}, targets, {.ignore_index = 0}).loss_sum,
              1e-12);
}

TEST(ClassLoss, WithoutWeightIsZeroAndHasNoGradient) {
  const ClassLossProblem p(DType::f32, Reduction::mean, true, true);
  for (const std::int32_t target : {kIgnored, std::int32_t{2}}) {  // class 2 has weight 0
    fill(p.targets, target);
    cross_entropy(p.logits, p.targets, p.weight, p.options, p.loss, p.log_p);
    EXPECT_EQ(p.loss.at<float>({}), 0);
    cross_entropy_backward(p.log_p, p.targets, p.weight, p.options, p.dloss, p.gradient);
    EXPECT_EQ(largest_difference(p.gradient, Tensor::zeros_like(p.gradient.view())), 0);
  }
}

TEST(ClassLoss, AnIgnoredPositionMayHoldNaN) {
  const ClassLossProblem p(DType::f32, Reduction::sum, false, true);
  cross_entropy(p.logits, p.targets, {}, p.options, p.loss, {});
  const float before = p.loss.at<float>({});
  ASSERT_EQ(p.targets.at<std::int32_t>({0, 1}), kIgnored);
  for (Index c = 0; c < kClasses; ++c) p.logits.at<float>({0, c, 1}) = NAN;
  cross_entropy(p.logits, p.targets, {}, p.options, p.loss, p.log_p);
  EXPECT_EQ(p.loss.at<float>({}), before);
  cross_entropy_backward(p.log_p, p.targets, {}, p.options, p.dloss, p.gradient);
  for (Index i = 0; i < p.gradient.size(); ++i) EXPECT_FALSE(std::isnan(p.gradient.data<float>()[i])) << i;
}

TEST(ClassLoss, ThreadsChangeNoBit) {
  const int saved = thread_count();
  const Tensor logits = random_tensor(DType::f32, {300, 70, 3}, 5), targets = Tensor::empty(DType::i32, {300, 3});
  for (Index r = 0; r < 900; ++r) targets.data<std::int32_t>()[r] = static_cast<std::int32_t>(r % 70);
  Tensor losses[2], gradients[2];
  for (int run = 0; run < 2; ++run) {
    set_thread_count(run == 0 ? 1 : 3);
    losses[run] = Tensor::empty(DType::f32, {});
    gradients[run] = Tensor::empty_like(logits.view());
    cross_entropy(logits, targets, {}, {}, losses[run], gradients[run]);
    cross_entropy_backward(gradients[run], targets, {}, {}, Tensor::from(std::vector<float>{1}, {1}).reshape({}),
                           gradients[run]);
  }
  set_thread_count(saved);
  EXPECT_TRUE(same_bits(losses[0], losses[1]));
  EXPECT_TRUE(same_bits(gradients[0], gradients[1]));
}

TEST(ClassLoss, NamesWhatItRefuses) {
  const ClassLossProblem p(DType::f32, Reduction::mean, true, false);
  p.targets.at<std::int32_t>({1, 2}) = 4;
  EXPECT_EQ(refusal([&] { nll_loss(p.logits, p.targets, p.weight, p.options, p.loss); }),
            "nll_loss: target 4 of position 5 is not one of 4 classes");
  p.targets.at<std::int32_t>({1, 2}) = -1;
  EXPECT_EQ(refusal([&] { cross_entropy(p.logits, p.targets, p.weight, p.options, p.loss, {}); }),
            "cross_entropy: target -1 of position 5 is not one of 4 classes");
  p.targets.at<std::int32_t>({1, 2}) = 0;
  EXPECT_NE(refusal([&] { nll_loss(p.logits, p.targets, p.logits, p.options, p.loss); }).find("weight"),
            std::string::npos);
  EXPECT_NE(refusal([&] { nll_loss(p.logits, p.targets, {}, p.options, p.logits.clone()); }).find("of rank 0"),
            std::string::npos);
  EXPECT_NE(refusal([&] { nll_loss(p.logits, p.logits, {}, p.options, p.loss); }).find("i32 targets"),
            std::string::npos);
  EXPECT_NE(refusal([&] { cross_entropy(p.logits, p.targets, {}, p.options, p.loss, p.loss.clone()); }).find("like"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
