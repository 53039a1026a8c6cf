// A language model that was trained: what it predicts, scores and continues.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/text_lines.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/perplexity.h"
#include "heed/tasks/score.h"
#include "heed/tasks/train.h"
#include "heed/tasks/train_test.h"
#include "heed/tasks/translate.h"
#include "heed/testing/refusal.h"
#include "heed/text/vocabulary.h"

namespace heed {
namespace {

using testing::TrainTest;

class LanguageModelTrainTest : public TrainTest {
 protected:
  void SetUp() override {
    TrainTest::SetUp();
    options_.task = Task::language_model;
    options_.model.transformer.encoder_layers = 0;
    options_.model.transformer.positions = PositionKind::none;
    options_.model.transformer.attention = AttentionChoice("alibi");
    options_.rate = 0.01, options_.warmup = 10;
    const TrainPaths paths{.source = {},
                           .target = {},
                           .valid_source = {},
                           .valid_target = {},
                           .text = (folder_ / "train.en").string(),
                           .valid = (folder_ / "valid.en").string(),
                           .folder = (folder_ / "model").string()};
    train(paths, options_, {.max_updates = 60}, monitor_, stop_);
    model_ = load_model_folder(folder_ / "model");
    test_ = read_text_lines(folder_ / "test.en");
  }

  ModelFolder model_;
  std::vector<std::string> test_;
};

TEST_F(LanguageModelTrainTest, ItPredictsUnseenTextBetterThanFrequencies) {
  const Perplexity learned = measure_perplexity(model_, test_);
  const Perplexity counted =
      measure_ngram_perplexity(1, *model_.target_vocabulary, read_text_lines(folder_ / "train.en"), test_);
  EXPECT_EQ(learned.tokens, counted.tokens);
  EXPECT_EQ(learned.bytes, counted.bytes);
  EXPECT_LT(learned.perplexity(), counted.perplexity());
}

TEST_F(LanguageModelTrainTest, ALinesScoresHaveTheSameBitsInAnyBatch) {
  const std::vector<TokenScores> together = score_documents(model_, test_),
                                 in_small = score_documents(model_, test_, 1);
  for (std::size_t i = 0; i < test_.size(); ++i) {
    EXPECT_EQ(together[i].tokens.back(), kOwnSymbols.end);
    EXPECT_EQ(together[i].log_probabilities, in_small[i].log_probabilities) << i;
    EXPECT_EQ(score_documents(model_, {&test_[i], 1})[0].log_probabilities, together[i].log_probabilities) << i;
  }
}

TEST_F(LanguageModelTrainTest, AContinuationHasTheSameBitsWhateverIsContinuedBeside) {
  const std::vector<std::string> prompts{"The man", "", "A woman", "The man", "The old"};
  GenerateOptions options{.max_tokens = 12};
  const std::vector<Generated> together = generate(model_, prompts, options);
  options.rows = 2;  // a prompt enters when another has ended
  std::map<std::size_t, std::string> told;
  const std::vector<Generated> few =
      generate(model_, prompts, options, [&](const GeneratedPart& part) { told[part.prompt] = part.text; });
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(together[i].tokens, few[i].tokens) << i;
    EXPECT_EQ(together[i].token_scores, few[i].token_scores) << i;
    EXPECT_EQ(told[i], few[i].text);
    EXPECT_TRUE(few[i].text.starts_with(prompts[i])) << few[i].text;
  }
  // The same prompt, drawn for two places.
  EXPECT_NE(together[0].tokens, together[3].tokens);
}

TEST_F(LanguageModelTrainTest, BehindTokensTheTextIsTheContinuationAlone) {
  const std::vector<std::string> texts{"The man", "A woman"};
  const GenerateOptions options{.max_tokens = 12};
  std::vector<std::vector<int>> prompts;
  for (const std::string& text : texts) prompts.push_back(model_.prompt_ids(text));
  const std::vector<Generated> whole = generate(model_, texts, options);
  const std::vector<Generated> behind = generate_behind(model_, prompts, options);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(behind[i].tokens, whole[i].tokens);
    EXPECT_EQ(behind[i].text, model_.target_vocabulary->decode(behind[i].tokens));
  }
  const auto refusal = [&](const std::vector<int>& prompt) {
    prompts[1] = prompt;
    return testing::refusal([&] { generate_behind(model_, prompts, options); });
  };
  EXPECT_EQ(refusal({}), "prompt 2: has no tokens");
  const Index size = model_.target_vocabulary->size();
  EXPECT_EQ(refusal({1, static_cast<int>(size)}),
            fmt::format("prompt 2: the vocabulary has ids below {0}, and not {0}", size));
  EXPECT_EQ(refusal({-1}), fmt::format("prompt 2: the vocabulary has ids below {}, and not -1", size));
}

TEST_F(LanguageModelTrainTest, ATextThatGrowsGoesOnAsIfItWereRead) {
  const GenerateOptions options{.max_tokens = 6};
  GrowingText text(model_);
  std::vector<int> talk = model_.prompt_ids("The man");
  for (const std::string_view said : {" is walking", " on a street", " with a dog"}) {
    for (const int id : model_.target_vocabulary->encode(said)) talk.push_back(id);
    if (said == " on a street") {  // what is interrupted is begun again
      const auto interrupt = [](const GeneratedPart&) { throw std::runtime_error("no more"); };
      EXPECT_THROW(text.go_on(talk, options, interrupt), std::runtime_error);
    }
    const std::vector<std::vector<int>> prompt{talk};
    const Generated anew = generate_behind(model_, prompt, options)[0];
    std::string told;
    const Generated grown = text.go_on(talk, options, [&](const GeneratedPart& part) { told = part.text; });
    EXPECT_EQ(grown.tokens, anew.tokens);
    EXPECT_EQ(grown.token_scores, anew.token_scores);
    EXPECT_EQ(grown.text, anew.text);
    EXPECT_EQ(told, anew.text);
    talk.insert(talk.end(), grown.tokens.begin(), grown.tokens.end());
  }
  EXPECT_EQ(testing::refusal([&] { text.go_on({}, options, {}, "turn 4: prompt"); }),
            "turn 4: prompt 1: has no tokens");
}

TEST_F(LanguageModelTrainTest, WhatTranslatesIsRefused) {
  EXPECT_NE(testing::refusal([&] { Translator translator(model_); }).find("it continues text"), std::string::npos);
  EXPECT_NE(testing::refusal([&] { score_translations(model_, test_, test_); }).find("it continues text"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
