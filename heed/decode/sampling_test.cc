#include "heed/decode/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "heed/io/fields.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr Index kDraws = 20000;

const std::vector<float> kLogits{0.5f, -1.0f, 2.0f, 0.0f, -3.0f, 1.5f};

// How often each token is drawn, as a share of all draws.
std::vector<double> frequencies(const std::vector<float>& logits, const SamplingOptions& options,
                                const std::vector<std::int32_t>& so_far = {}) {
  std::vector<double> share(logits.size(), 0.0);
  for (Index position = 0; position < kDraws; ++position) {
    share[static_cast<std::size_t>(sample_token(logits, so_far, options, {.position = position}))] += 1;
  }
  for (double& x : share) x /= kDraws;
  return share;
}

// softmax(logits / temperature) over the tokens that are kept.
std::vector<double> probabilities(const std::vector<float>& logits, double temperature,
                                  const std::set<std::size_t>& kept) {
  std::vector<double> p(logits.size(), 0.0);
  for (std::size_t token : kept) p[token] = std::exp(static_cast<double>(logits[token]) / temperature);
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= total;
  return p;
}

// Within five standard deviations of a share of kDraws; a token of no probability never comes.
void expect_drawn_by(const std::vector<double>& share, const std::vector<double>& p) {
  for (std::size_t token = 0; token < p.size(); ++token) {
    EXPECT_NEAR(share[token], p[token], 5 * std::sqrt(p[token] * (1 - p[token]) / kDraws)) << "token " << token;
  }
}

TEST(Sampling, TokensComeAsOftenAsTheirProbabilitySays) {
  for (double temperature : {0.5, 1.0, 3.0}) {
    expect_drawn_by(frequencies(kLogits, {.temperature = temperature}),
                    probabilities(kLogits, temperature, {0, 1, 2, 3, 4, 5}));
  }
}

TEST(Sampling, TopKKeepsTheLargestLogits) {
  expect_drawn_by(frequencies(kLogits, {.top_k = 3}), probabilities(kLogits, 1, {2, 5, 0}));
  expect_drawn_by(frequencies(kLogits, {.top_k = 1}), probabilities(kLogits, 1, {2}));
  for (Index all : {Index{0}, Index{6}, Index{1000}}) {
    EXPECT_EQ(frequencies(kLogits, {.top_k = all}), frequencies(kLogits, {})) << all;
  }
}

// The probabilities are 0.495, 0.300, 0.110, 0.067, ... of tokens 2, 5, 0 and 3.
TEST(Sampling, ATokenOutsideTheNucleusNeverComes) {
  expect_drawn_by(frequencies(kLogits, {.top_p = 0.49}), probabilities(kLogits, 1, {2}));
  expect_drawn_by(frequencies(kLogits, {.top_p = 0.79}), probabilities(kLogits, 1, {2, 5}));
  expect_drawn_by(frequencies(kLogits, {.top_p = 0.8}), probabilities(kLogits, 1, {2, 5, 0}));
  expect_drawn_by(frequencies(kLogits, {.top_p = 0}), probabilities(kLogits, 1, {2}));
}

TEST(Sampling, TheNucleusIsOfWhatTemperatureAndTopKLeave) {
  // At a temperature of 3 the two likeliest have 0.52 of all.
  expect_drawn_by(frequencies(kLogits, {.temperature = 3, .top_p = 0.6}), probabilities(kLogits, 3, {2, 5, 0}));
  // Of the two likeliest the first has 0.62.
  expect_drawn_by(frequencies(kLogits, {.top_k = 2, .top_p = 0.6}), probabilities(kLogits, 1, {2}));
  expect_drawn_by(frequencies(kLogits, {.top_k = 3, .top_p = 0.6}), probabilities(kLogits, 1, {2, 5}));
}

// Beside the likeliest, the others have 0.607, 0.223, 0.135, 0.050 and 0.007 of its probability.
TEST(Sampling, WhatIsMuchLessLikelyThanTheLikeliestNeverComes) {
  expect_drawn_by(frequencies(kLogits, {.min_p = 0.2}), probabilities(kLogits, 1, {2, 5, 0}));
  expect_drawn_by(frequencies(kLogits, {.min_p = 0.04}), probabilities(kLogits, 1, {2, 5, 0, 3, 1}));
  expect_drawn_by(frequencies(kLogits, {.min_p = 1}), probabilities(kLogits, 1, {2}));
  EXPECT_EQ(frequencies(kLogits, {.min_p = 0.001}), frequencies(kLogits, {}));
  expect_drawn_by(frequencies(kLogits, {.temperature = 3, .min_p = 0.6}), probabilities(kLogits, 3, {2, 5, 0}));
  expect_drawn_by(frequencies(kLogits, {.top_p = 0.79, .min_p = 0.01}), probabilities(kLogits, 1, {2, 5}));
}

TEST(Sampling, ATokenThatCameIsPenalisedOnceWhateverItsSign) {
  std::vector<float> penalised = kLogits;
  penalised[2] /= 2, penalised[4] *= 2;
  EXPECT_EQ(frequencies(kLogits, {.repetition_penalty = 2}, {2, 4, 2, 2}), frequencies(penalised, {}));
  EXPECT_EQ(frequencies(kLogits, {}, {2, 4}), frequencies(kLogits, {}));
}

TEST(Sampling, ThePenaltyComesBeforeTheTemperatureAndTheCuts) {
  EXPECT_EQ(sample_token(kLogits, std::vector<std::int32_t>{2}, {.temperature = 0, .repetition_penalty = 2}, {}), 5);
  expect_drawn_by(frequencies(kLogits, {.top_k = 1, .repetition_penalty = 2}, {2}), probabilities(kLogits, 1, {5}));
}

TEST(Sampling, ATokenThatWouldEndARepetitionNeverComes) {
  const std::vector<std::int32_t> so_far{2, 5, 1, 2};
  expect_drawn_by(frequencies(kLogits, {.no_repeat_ngram = 2}, so_far), probabilities(kLogits, 1, {0, 1, 2, 3, 4}));
  expect_drawn_by(frequencies(kLogits, {.no_repeat_ngram = 1}, so_far), probabilities(kLogits, 1, {0, 3, 4}));
  EXPECT_EQ(frequencies(kLogits, {.no_repeat_ngram = 3}, so_far), frequencies(kLogits, {}));
  EXPECT_EQ(refusal([] {
              sample_token(kLogits, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}, {.no_repeat_ngram = 1}, {});
            }),
            "sample_token: of 6 logits none is a number above -infinity");
}

TEST(Sampling, TemperatureZeroTakesTheLikeliestAndTheSmallestOfEquals) {
  EXPECT_EQ(sample_token(kLogits, {}, {.temperature = 0}, {}), 2);
  EXPECT_EQ(sample_token(std::vector<float>{1, 3, 3, 2}, {}, {.temperature = 0}, {}), 1);
  EXPECT_EQ(sample_token(kLogits, {}, {.temperature = 1e-300}, {}), 2);
}

TEST(Sampling, EqualLogitsAreEquallyLikelyAndCutsKeepTheSmallerIndex) {
  const std::vector<float> equal(4, 7.0f);
  expect_drawn_by(frequencies(equal, {}), {0.25, 0.25, 0.25, 0.25});
  expect_drawn_by(frequencies(equal, {.temperature = 1e-300}), {0.25, 0.25, 0.25, 0.25});
  expect_drawn_by(frequencies(equal, {.top_k = 2}), {0.5, 0.5, 0, 0});
  expect_drawn_by(frequencies(equal, {.top_p = 0.5}), {0.5, 0.5, 0, 0});
}

TEST(Sampling, WhatIsNoNumberIsNeverDrawn) {
  const std::vector<float> holes{kNaN, 1, -kInfinity, 1, kNaN};
  expect_drawn_by(frequencies(holes, {}), {0, 0.5, 0, 0.5, 0});
  expect_drawn_by(frequencies(holes, {.top_k = 3, .top_p = 0.99}), {0, 0.5, 0, 0.5, 0});
  EXPECT_EQ(sample_token(holes, {}, {.temperature = 0}, {}), 1);
  EXPECT_EQ(frequencies({-kInfinity, -200, kNaN}, {}), (std::vector<double>{0, frequencies({-200}, {})[0], 0}));
  EXPECT_EQ(frequencies(holes, {.repetition_penalty = 2}, {0, 2}), frequencies(holes, {}));
}

TEST(Sampling, InfiniteLogitsShareAllProbability) {
  expect_drawn_by(frequencies({1, kInfinity, 2, kInfinity}, {}), {0, 0.5, 0, 0.5});
  expect_drawn_by(frequencies({1, kInfinity, 2, kInfinity}, {.top_k = 3, .top_p = 0.5}), {0, 1, 0, 0});
}

TEST(Sampling, ADrawIsAFunctionOfSeedSequenceAndPosition) {
  const std::vector<float> logits(1000, 0.0f);
  const auto draw = [&](Index seed, Index sequence, Index position) {
    return sample_token(logits, {}, {.seed = seed}, {sequence, position});
  };
  EXPECT_EQ(draw(1, 2, 3), draw(1, 2, 3));
  std::set<std::int32_t> drawn;
  for (Index step = 1; step <= 10; ++step) {
    for (std::int32_t token : {draw(step, 0, 0), draw(0, step, 0), draw(0, 0, step)}) drawn.insert(token);
  }
  EXPECT_GE(drawn.size(), 28u);  // 30 draws of 1000 tokens: fewer have a probability of 0.009
}

TEST(Sampling, RefusesOptionsOutOfRangeAndLogitsWithoutANumber) {
  const auto with = [](const SamplingOptions& options) {
    return refusal([&] { sample_token(kLogits, {}, options, {}); });
  };
  EXPECT_EQ(with({}), "no error");
  EXPECT_EQ(with({.temperature = -1}), "sample_token: temperature must be from 0 up, but is -1");
  EXPECT_EQ(with({.top_k = -1}), "sample_token: top_k must be from 0 up, but is -1");
  EXPECT_EQ(with({.top_p = 1.5}), "sample_token: top_p must be from 0 to 1, but is 1.5");
  EXPECT_EQ(with({.min_p = -0.5}), "sample_token: min_p must be from 0 to 1, but is -0.5");
  EXPECT_EQ(with({.repetition_penalty = 0}), "sample_token: repetition_penalty must be above 0, but is 0");
  EXPECT_EQ(refusal([] {
              sample_token(std::vector<float>{kNaN, -kInfinity}, {}, {}, {});
            }),
            "sample_token: of 2 logits none is a number above -infinity");
  EXPECT_EQ(refusal([] { sample_token(kLogits, std::vector<std::int32_t>{6}, {}, {}); }),
            "sample_token: token 6 came, but there are logits of 6");
}

TEST(Sampling, OptionsSurviveJson) {
  const SamplingOptions options{.temperature = 0.7,
                                .top_k = 40,
                                .top_p = 0.9,
                                .min_p = 0.1,
                                .repetition_penalty = 1.2,
                                .no_repeat_ngram = 3,
                                .min_tokens = 2,
                                .seed = 9};
  SamplingOptions read;
  from_json(to_json(options), read);
  EXPECT_EQ(to_json(read), to_json(options));
}

}  // namespace
}  // namespace heed
