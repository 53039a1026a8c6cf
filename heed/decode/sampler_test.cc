#include "heed/decode/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/decode/beam_search.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/transformer.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;
using Ids = std::vector<std::int32_t>;

const SpecialTokens kSpecial{};

class DrawnText : public ::testing::Test {
 protected:
  Hypothesis draw(const SamplingOptions& options, Index sequence = 0, Index most = 40) {
    Searches searches;
    searches.push_back(std::make_unique<Sampler>(options, kSpecial, Ids{kSpecial.begin}, sequence, most));
    return decode(model_, source_, std::move(searches), workspace_)[0][0];
  }

  static TransformerConfig config() {
    TransformerConfig config;
    config.source_vocabulary = config.target_vocabulary = 20;
    config.width = 16, config.heads = 2, config.ffn_width = 24;
    config.encoder_layers = config.decoder_layers = 1;
    config.max_length = 50;
    return config;
  }

  DrawnParameters drawn_{Rng(2)};
  Transformer model_{drawn_, config()};
  Workspace workspace_;
  TokenBatch source_{Tensor::from(Ids{4, 5, 3}, {1, 3}), Tensor::from(Ids{3}, {1})};
};

TEST_F(DrawnText, ATemperatureOfZeroTakesTheTokensOfAGreedySearch) {
  const Hypothesis drawn = draw({.temperature = 0});
  const BeamOptions greedy{.beam = 1, .length_penalty = 0, .max_ratio = 0, .max_extra = 40};
  const Hypothesis found = beam_search(model_, source_, greedy, kSpecial, workspace_)[0][0];
  EXPECT_EQ(drawn.tokens, found.tokens);
  const std::size_t common = drawn.token_scores.size();  // a search is made to end, a sampler only stops
  EXPECT_EQ(drawn.token_scores, (std::vector<double>{found.token_scores.begin(), found.token_scores.begin() + common}));
}

TEST_F(DrawnText, PadBeginAndUnknownNeverComeAndScoresAreTheModelsOwn) {
  for (Index sequence = 0; sequence < 20; ++sequence) {
    const Hypothesis drawn = draw({.temperature = 5}, sequence);
    for (std::int32_t token : drawn.tokens) EXPECT_FALSE(kSpecial.excludes(token) || token == kSpecial.ends[0]);
    const bool ended = std::ssize(drawn.tokens) < 40;
    EXPECT_EQ(drawn.token_scores.size(), drawn.tokens.size() + (ended ? 1 : 0));
    // Fed again, token by token, the model gives these log-probabilities.
    const Context context = Context::inference(workspace_);
    const auto state = model_.start(Precision::f32);
    model_.admit(context, *state, source_);
    std::int32_t read = kSpecial.begin;
    double sum = 0;
    for (std::size_t t = 0; t < drawn.token_scores.size(); ++t) {
      const Tensor logits = model_.step(context, *state, Ids{read});
      double total = 0;
      for (Index v = 0; v < 20; ++v) total += std::exp(static_cast<double>(logits.at<float>({0, v})));
      read = t < drawn.tokens.size() ? drawn.tokens[t] : kSpecial.ends[0];
      EXPECT_NEAR(drawn.token_scores[t], logits.at<float>({0, read}) - std::log(total), 1e-5);
      sum += drawn.token_scores[t];
    }
    EXPECT_EQ(drawn.score, sum);
  }
}

TEST_F(DrawnText, AFirstTokenThatIsSaidComesFirst) {
  for (const std::int32_t first : {7, 11}) {
    SpecialTokens special = kSpecial;
    special.first = first;
    Searches searches;
    searches.push_back(std::make_unique<Sampler>(SamplingOptions{}, special, Ids{kSpecial.begin}, 0, 5));
    EXPECT_EQ(decode(model_, source_, std::move(searches), workspace_)[0][0].tokens.front(), first);
  }
}

TEST_F(DrawnText, ALastTokenThatIsSaidComesWhereThereIsRoomForOneMore) {
  SpecialTokens special = kSpecial;
  special.last = kSpecial.ends[0];
  special.never = kSpecial.ends;  // which do not come before
  Searches searches;
  searches.push_back(std::make_unique<Sampler>(SamplingOptions{}, special, Ids{kSpecial.begin}, 0, 5));
  const Hypothesis drawn = decode(model_, source_, std::move(searches), workspace_)[0][0];
  EXPECT_EQ(drawn.tokens.size(), 4u);
  EXPECT_EQ(drawn.end, special.last);
  EXPECT_EQ(drawn.token_scores.back(), 0);
}

TEST_F(DrawnText, WhatMustNotComeFirstMayComeLaterAndNothingIsPutBehindAPrompt) {
  const auto greedy = [&](const SpecialTokens& special, const Ids& written) {
    Searches searches;
    searches.push_back(std::make_unique<Sampler>(SamplingOptions{.temperature = 0}, special, written, 0, 5));
    return decode(model_, source_, std::move(searches), workspace_)[0][0].tokens;
  };
  SpecialTokens special = kSpecial;
  special.ends.clear();
  const Ids free = greedy(special, {kSpecial.begin});
  special.never_first = {free[0]};
  EXPECT_NE(greedy(special, {kSpecial.begin})[0], free[0]);
  special.first = free[0];
  EXPECT_EQ(greedy(special, {kSpecial.begin})[0], free[0]) << "what is put there may be";
  special.first = 11, special.never_first.clear();
  EXPECT_EQ(greedy(special, {kSpecial.begin, 7}),
            greedy({.begin = kSpecial.begin, .ends = {}, .never = kSpecial.never}, {kSpecial.begin, 7}));
}

TEST_F(DrawnText, SequencesAndSeedsDrawOtherTexts) {
  EXPECT_EQ(draw({}, 1).tokens, draw({}, 1).tokens);
  EXPECT_NE(draw({}, 1).tokens, draw({}, 2).tokens);
  EXPECT_NE(draw({.seed = 1}).tokens, draw({.seed = 2}).tokens);
}

TEST_F(DrawnText, WhatIsWrittenCountsAsARepetition) {
  // With a penalty that forbids, a token comes at most once, and none of the prompt comes again.
  const SamplingOptions once{.temperature = 0.01, .repetition_penalty = 1e6};
  Searches searches;
  SpecialTokens endless = kSpecial;
  endless.ends.clear();
  searches.push_back(std::make_unique<Sampler>(once, endless, Ids{7, 8, 9, 10}, 0, 5));
  const Hypothesis drawn = decode(model_, source_, std::move(searches), workspace_)[0][0];
  std::vector<int> times(20, 0);
  for (std::int32_t token : drawn.tokens) ++times[static_cast<std::size_t>(token)];
  for (std::int32_t token : {7, 8, 9, 10}) EXPECT_EQ(times[static_cast<std::size_t>(token)], 0) << token;
}

TEST_F(DrawnText, ManySequencesAreDrawnAtOnce) {
  const TokenBatch two{Tensor::from(Ids{4, 5, 3, 4, 5, 3}, {2, 3}), Tensor::from(Ids{3, 3}, {2})};
  const auto drawn = sample(model_, two, {}, kSpecial, 40, workspace_);
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0][0].tokens, draw({}, 0).tokens);
  EXPECT_EQ(drawn[1][0].tokens, draw({}, 1).tokens);
  EXPECT_EQ(sample(model_, two, {}, kSpecial, 1000, workspace_)[0][0].tokens, draw({}, 0, 50).tokens);
}

TEST_F(DrawnText, RefusesOptionsOutOfRange) {
  EXPECT_EQ(refusal([] { Sampler({.top_p = 2}, kSpecial, {2}, 0, 5); }),
            "Sampler: top_p must be from 0 to 1, but is 2");
  EXPECT_EQ(refusal([] { Sampler({}, kSpecial, {}, 0, 5); }), "Sampler: there must be a token to start from");
  EXPECT_EQ(refusal([] { Sampler({}, kSpecial, {2}, 0, 0); }), "Sampler: max_tokens must be at least 1, but is 0");
}

TEST(Sampler, NoEndTokenComesBeforeTheLeastLength) {
  for (const Index least : {0, 1, 7}) {
    SpecialTokens special;
    special.ends = {3, 5};
    Sampler sampler({.temperature = 0, .min_tokens = least}, special, {2}, /*sequence=*/0, /*max_tokens=*/50);
    Tensor logits;
    do {
      logits = Tensor::from<float>({0, 0, 0, 8, 1, 9, 2, 0}, {1, 8});
    } while (!sampler.advance(logits).empty());
    EXPECT_EQ(sampler.drawn().tokens, Ids(static_cast<std::size_t>(least), 6));
    EXPECT_EQ(sampler.drawn().end, 5);
  }
}

TEST(Sampler, DrawsNoIdBeyondTheVocabulary) {
  SpecialTokens special;
  special.beyond = 6;
  Sampler sampler({.seed = 3}, special, {2}, /*sequence=*/0, /*max_tokens=*/50);
  for (int t = 0; t < 50; ++t) {
    // The likeliest rows of the table are no pieces.
    const Tensor logits = Tensor::from<float>({0, 0, 0, -9, 1, 1, 50, 50}, {1, 8});
    if (sampler.advance(logits).empty()) break;
    EXPECT_TRUE(sampler.next_tokens().front() == 4 || sampler.next_tokens().front() == 5);
  }
}

}  // namespace
}  // namespace heed
