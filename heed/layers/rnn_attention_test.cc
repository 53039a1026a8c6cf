#include "heed/layers/rnn_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "heed/layers/drawn_parameters.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;

constexpr Index kBatch = 2, kQueries = 5, kStates = 9, kStateWidth = 6;

struct RnnWeights : AttentionObserver {
  bool wants(const AttentionSite&) const override { return true; }
  void on_weights(const AttentionSite&, ConstView weights) override { seen = Tensor::copy_of(weights); }
  Tensor seen;
};

class RnnAttentionReach : public ::testing::Test {
 protected:
  // The weights [B, 1, L, S] of queries that stand at 4, 5, ... in the first sentence and at 2, 3, ... in the second.
  Tensor weights(const RnnAttention& attention) {
    RnnWeights observer;
    const Context context = Context::inference(workspace_, &observer);
    attention.forward(context, queries_, attention.prepare(context, states_, lengths_), first_);
    return observer.seen;
  }
  RnnAttention make(RnnReach reach, Index window) {
    DrawnParameters drawn(Rng(1));
    const RnnAttention attention(drawn, {.score = RnnScore::dot,
                                         .query_width = kStateWidth,
                                         .memory_width = kStateWidth,
                                         .reach = reach,
                                         .window = window});
    for (const auto& [name, var] : drawn.list()) parameters_[name] = var.value();
    return attention;
  }
  // The definition: the dot scores, with what `bias` adds.
  template <typename Bias>
  void expect_weights(const Tensor& weights, Bias bias) {
    for (Index b = 0; b < kBatch; ++b)
      for (Index i = 0; i < kQueries; ++i) {
        std::vector<double> e(kStates);
        double sum = 0;
        for (Index j = 0; j < lengths_.at<std::int32_t>({b}); ++j) {
          double dot = 0;
          for (Index d = 0; d < kStateWidth; ++d) {
            dot += static_cast<double>(queries_.value().at<float>({b, i, d})) *
                   static_cast<double>(states_.value().at<float>({b, j, d}));
          }
          sum += e[j] = std::exp(dot + bias(b, i, j));
        }
        for (Index j = 0; j < kStates; ++j) {
          EXPECT_NEAR(weights.at<float>({b, 0, i, j}), sum > 0 ? e[j] / sum : 0, 1e-6) << b << " " << i << " " << j;
        }
      }
  }

  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  Workspace workspace_;
  Var queries_{random_tensor(DType::f32, {kBatch, kQueries, kStateWidth}, 1)};
  Var states_{random_tensor(DType::f32, {kBatch, kStates, kStateWidth}, 2)};
  Tensor lengths_ = Tensor::from(std::vector<std::int32_t>{9, 3}, {kBatch});
  std::map<std::string, Tensor> parameters_;
  std::vector<Index> first_{4, 2};
};

TEST_F(RnnAttentionReach, GlobalSeesEveryState) {
  expect_weights(weights(make(RnnReach::global, 1)), [](Index, Index, Index) { return 0.0; });
}

// The second sentence has three states: the queries at 5 and 6 stand past its window, and get nothing.
TEST_F(RnnAttentionReach, LocalMSeesTheStatesAroundTheQuerysOwnPosition) {
  expect_weights(weights(make(RnnReach::local_m, 2)),
                 [&](Index b, Index i, Index j) { return std::abs(j - (i + first_[b])) <= 2 ? 0.0 : kNone; });
}

TEST_F(RnnAttentionReach, LocalMWithAWindowWiderThanEverySentenceIsGlobalToTheBit) {
  const Tensor local = weights(make(RnnReach::local_m, 100)), global = weights(make(RnnReach::global, 1));
  ASSERT_EQ(local.size(), global.size());
  for (Index i = 0; i < local.size(); ++i) EXPECT_EQ(local.data<float>()[i], global.data<float>()[i]) << i;
}

TEST_F(RnnAttentionReach, LocalPSeesTheStatesAroundThePredictedPositionUnderAGaussian) {
  const RnnAttention attention = make(RnnReach::local_p, 2);
  ASSERT_EQ(parameters_.size(), 2U);
  const Tensor &w = parameters_.at("position_proj.weight"), &v = parameters_.at("position_vector.weight");
  expect_weights(weights(attention), [&](Index b, Index i, Index j) {
    double sum = 0;
    for (Index r = 0; r < kStateWidth; ++r) {
      double hidden = 0;
      for (Index d = 0; d < kStateWidth; ++d) hidden += w.at<float>({r, d}) * queries_.value().at<float>({b, i, d});
      sum += v.at<float>({0, r}) * std::tanh(hidden);
    }
    const double p = lengths_.at<std::int32_t>({b}) / (1 + std::exp(-sum)), away = static_cast<double>(j) - p;
    return std::abs(away) <= 2 ? -away * away / 2 : kNone;  // sigma = D / 2 = 1
  });
}

TEST_F(RnnAttentionReach, AWindowOfNothingIsRefused) {
  EXPECT_EQ(testing::refusal([&] { make(RnnReach::local_m, 0); }),
            "RnnAttention: the window must be at least 1, but is 0");
}

}  // namespace
}  // namespace heed
