#include "heed/tasks/translate.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "heed/base/parallel.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/testing/refusal.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using testing::refusal;

constexpr std::size_t kMostTokens = 11;  // that the model can hold

// Of this many words, "ein", "zwei", ... over and over.
std::string sentence_of(std::size_t words) {
  const std::vector<std::string> kWords = {"ein", "zwei", "drei", "vier", "elf", "zehn", "neun"};
  std::string text;
  for (std::size_t i = 0; i < words; ++i) text += (i > 0 ? " " : "") + kWords[(words + i * i) % kWords.size()];
  return text;
}

class TranslatorTest : public ::testing::Test {
 protected:
  // The parameters are what chance made them.
  void SetUp() override {
    const auto words = WhitespaceVocabulary::build(std::vector<std::string>{"ein zwei drei vier elf zehn neun"});
    folder_.source_vocabulary = folder_.target_vocabulary = std::make_shared<WhitespaceVocabulary>(words);
    TransformerConfig& config = folder_.config.transformer;
    config.width = 16, config.ffn_width = 32, config.heads = 2, config.encoder_layers = config.decoder_layers = 2;
    config.max_length = kMostTokens + 1;
    folder_.config.set_vocabularies(words.size(), words.size());
    DrawnParameters drawn(Rng(7));
    folder_.model = make_model(drawn, folder_.config);
  }
  void TearDown() override { set_thread_count(threads_before_); }

  ModelFolder folder_;
  const int threads_before_ = thread_count();
};

void expect_same(const std::vector<std::vector<Translation>>& seen,
                 const std::vector<std::vector<Translation>>& wanted) {
  ASSERT_EQ(seen.size(), wanted.size());
  for (std::size_t line = 0; line < seen.size(); ++line) {
    ASSERT_EQ(seen[line].size(), wanted[line].size()) << line;
    for (std::size_t rank = 0; rank < seen[line].size(); ++rank) {
      const Translation &one = seen[line][rank], &other = wanted[line][rank];
      EXPECT_EQ(one.text, other.text) << line;
      EXPECT_EQ(one.score, other.score) << line;
      EXPECT_EQ(one.tokens, other.tokens) << line;
      EXPECT_EQ(one.token_scores, other.token_scores) << line;
    }
  }
}

TEST_F(TranslatorTest, TheSameBitsForAnyThreadsAndBatches) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 40; ++i) lines.push_back(sentence_of(i * 7 % (kMostTokens + 1)));
  const BeamOptions options{.beam = 3, .best = 2};
  set_thread_count(1);
  std::vector<std::vector<Translation>> wanted;  // each line alone
  for (const std::string& line : lines) wanted.push_back(Translator(folder_).translate({&line, 1}, options).front());
  EXPECT_EQ(wanted[0].size(), 1u);  // the line without tokens
  EXPECT_EQ(wanted[1].size(), 2u);
  for (int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    Translator translator(folder_);
    for (Index batch_tokens : {1, 40, 200, 100'000}) {
      SCOPED_TRACE(fmt::format("{} threads, {} tokens a batch", threads, batch_tokens));
      expect_same(translator.translate(lines, options, "lines", 1, batch_tokens), wanted);
    }
    for (std::size_t few : {0, 1, 2, 5}) {  // fewer than threads
      expect_same(translator.translate(std::span(lines).first(few), options), {wanted.begin(), wanted.begin() + few});
    }
  }
}

TEST_F(TranslatorTest, ALineWithoutTokensHasNoScores) {
  const std::vector<std::string> lines = {" ", "ein"};
  const auto translations = Translator(folder_).translate(lines, {});
  EXPECT_TRUE(translations[0][0].token_scores.empty());
  EXPECT_EQ(translations[1][0].token_scores.size(), translations[1][0].tokens.size() + 1);
}

TEST_F(TranslatorTest, ALongLineFailsByNameBeforeAnythingIsTranslated) {
  const std::vector<std::string> lines = {sentence_of(kMostTokens), "", sentence_of(kMostTokens + 1), "ein"};
  Translator translator(folder_);
  EXPECT_EQ(refusal([&] { translator.translate(lines, {}, "text", 5); }),
            "text:7: the sentence has 12 tokens, and the model can hold 11");
  EXPECT_EQ(translator.count_before_long_line(lines), 2u);
  EXPECT_EQ(translator.count_before_long_line(std::span(lines).first(2)), 2u);
}

TEST_F(TranslatorTest, ALongLineIsCroppedOrTakenForEmpty) {
  const std::vector<std::string> lines = {"ein", sentence_of(kMostTokens + 9), "zwei"};
  std::string cropped = lines[1];
  for (int words = 0; words < 9; ++words) cropped.resize(cropped.rfind(' '));
  for (const LongLines treatment : {LongLines::crop, LongLines::empty}) {
    const std::vector<std::string> as_if = {"ein", treatment == LongLines::crop ? cropped : "", "zwei"};
    Translator translator(folder_, treatment);
    expect_same(translator.translate(lines, {.beam = 2}, "text", 5), Translator(folder_).translate(as_if, {.beam = 2}));
    EXPECT_EQ(translator.long_lines(), (std::vector<Index>{6}));
    translator.translate(as_if, {.beam = 2});
    EXPECT_TRUE(translator.long_lines().empty());
  }
}

TEST_F(TranslatorTest, AnErrorOnAnyThreadReachesTheCaller) {
  std::vector<std::string> lines(64, "ein zwei drei");
  set_thread_count(4);
  Translator translator(folder_);
  EXPECT_NE(refusal([&] { translator.translate(lines, {.beam = 2, .best = 3}); }).find("best must be"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { translator.translate(lines, {}, "text", 1, 0); }),
            "Translator: batch_tokens must be at least 1, but is 0");
  EXPECT_EQ(translator.translate(lines, {.beam = 2}).size(), lines.size());
}

}  // namespace
}  // namespace heed
