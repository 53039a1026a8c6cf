#include "heed/decode/prompted_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/decode/beam_search.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/transformer.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;
using Ids = std::vector<std::int32_t>;

class PromptedSearchTest : public ::testing::Test {
 protected:
  static TransformerConfig config() {
    TransformerConfig config;
    config.source_vocabulary = config.target_vocabulary = 20;
    config.width = 16, config.heads = 2, config.ffn_width = 24;
    config.encoder_layers = config.decoder_layers = 1;
    config.max_length = 30;
    return config;
  }

  Hypothesis found(const Ids& prompt, Index beam, const Ids& never_first = {}) {
    const BeamOptions options{.beam = beam, .complete = false};
    Searches searches;
    searches.push_back(std::make_unique<PromptedSearch>(
        prompt, std::make_unique<BeamSearch>(options, SpecialTokens{.never_first = never_first}, prompt.back(), 10)));
    return decode(model_, source_, std::move(searches), workspace_)[0][0];
  }

  // The log-probabilities of what follows the tokens.
  std::vector<double> scores_behind(const Ids& tokens) {
    const auto length = static_cast<Index>(tokens.size());
    const Tensor logits =
        model_.logits(Context::inference(workspace_), {source_, Tensor::from(tokens, {1, length})}).value();
    std::vector<double> scores;
    double sum = 0;
    for (Index i = 0; i < 20; ++i) sum += std::exp(double{logits.at<float>({0, length - 1, i})});
    for (Index i = 0; i < 20; ++i) scores.push_back(double{logits.at<float>({0, length - 1, i})} - std::log(sum));
    return scores;
  }

  DrawnParameters drawn_{Rng(2)};
  Transformer model_{drawn_, config()};
  Workspace workspace_;
  TokenBatch source_{Tensor::from(Ids{4, 5, 3}, {1, 3}), Tensor::from(Ids{3}, {1})};
};

TEST_F(PromptedSearchTest, TokensHaveTheScoresThatTheModelGivesThemBehindThePrompt) {
  const Ids prompt{2, 7, 11, 5};
  for (Index beam : {1, 4}) {
    const Hypothesis hypothesis = found(prompt, beam);
    ASSERT_FALSE(hypothesis.tokens.empty());
    Ids read = prompt;
    for (std::size_t i = 0; i < hypothesis.tokens.size(); ++i) {
      EXPECT_NEAR(scores_behind(read)[static_cast<std::size_t>(hypothesis.tokens[i])], hypothesis.token_scores[i],
                  1e-5);
      read.push_back(hypothesis.tokens[i]);
    }
  }
}

TEST_F(PromptedSearchTest, WhatMustNotComeFirstMayComeLater) {
  const Ids prompt{2, 9};
  const std::int32_t first = found(prompt, 1).tokens.front();
  const Hypothesis other = found(prompt, 1, {first});
  EXPECT_NE(other.tokens.front(), first);
  std::int32_t second = -1;
  double best = -1e300;
  const std::vector<double> scores = scores_behind(prompt);
  for (std::int32_t id = 3; id < 20; ++id) {
    if (id != first && scores[static_cast<std::size_t>(id)] > best) {
      second = id;
      best = scores[static_cast<std::size_t>(id)];
    }
  }
  EXPECT_EQ(other.tokens.front(), second);
}

TEST_F(PromptedSearchTest, APromptOfOneTokenIsThePlainSearch) {
  EXPECT_EQ(found({2}, 3).tokens,
            beam_search(model_, source_, {.beam = 3, .complete = false, .max_ratio = 0, .max_extra = 10},
                        SpecialTokens{}, workspace_)[0][0]
                .tokens);
}

TEST_F(PromptedSearchTest, AnEmptyPromptIsRefused) {
  EXPECT_EQ(refusal([] { PromptedSearch({}, nullptr); }), "PromptedSearch: the prompt is empty");
}

}  // namespace
}  // namespace heed
