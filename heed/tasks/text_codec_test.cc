#include "heed/tasks/text_codec.h"

#include <gtest/gtest.h>

#include "heed/io/fields.h"
#include "heed/tasks/model_batch.h"
#include "heed/text/tokenizer/tokenizer.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

TEST(TextCodec, AModelsLengthIsFilledByItsRoom) {
  constexpr Index kPositions = 16;
  const std::vector<std::string> lines{"a b"};
  const auto words = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(lines));
  const TextCodec codecs[]{codec_of({words, words}),
                           codec_of_others({words, words}, {.never = {}}, /*translates=*/true),
                           codec_of_others({words, words}, {.never = {}}, /*translates=*/false)};
  for (const TextCodec& codec : codecs) {
    const std::vector<int> source(static_cast<std::size_t>(codec.source_room(kPositions)), 4);
    const std::vector<int> target(static_cast<std::size_t>(codec.target_room(kPositions)), 4);
    const SequenceBatch batch = make_taught_batch(codec, source, target);
    EXPECT_EQ(batch.source.ids.dim(1), kPositions);
    EXPECT_EQ(batch.input.dim(1), kPositions);
  }
}

TEST(TextCodec, AFolderKeepsWhatDecodingIsToldOfTokens) {
  const std::vector<std::string> lines{"a b"};
  const auto words = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(lines));
  for (const SpecialTokens& special :
       {SpecialTokens{.begin = 0, .ends = {3, 9}, .never = {}},
        SpecialTokens{.begin = -1, .ends = {}, .never = {0, 4}, .first = 5, .last = 3, .never_first = {1}}}) {
    const TextCodec codec = codec_of_others({words, words}, special, /*translates=*/true);
    const SpecialTokens kept = codec_from_json(to_json(codec), {words, words}, /*translates=*/true).special;
    EXPECT_EQ(kept.begin, special.begin);
    EXPECT_EQ(kept.ends, special.ends);
    EXPECT_EQ(kept.never, special.never);
    EXPECT_EQ(kept.first, special.first);
    EXPECT_EQ(kept.last, special.last);
    EXPECT_EQ(kept.never_first, special.never_first);
  }
  EXPECT_THROW(codec_of_others({words, words}, {.first = 6}, /*translates=*/true), Error);
}

// As BART's texts begin, and those of models of many languages.
TEST(TextCodec, ATargetHasTheTokenThatItIsMadeToBeginWith) {
  const std::vector<std::string> lines{"a b"};
  const auto words = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(lines));
  const TextCodec codec = codec_of_others({words, words}, {.first = 3}, /*translates=*/true);
  EXPECT_EQ(codec.target_ids("a b"), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(codec.source_ids("a b"), (std::vector<int>{4, 5}));
  EXPECT_TRUE(codec.target_ids("").empty());
}

TEST(TextCodec, LanguagesAreChosenOfModelsThatTranslateBetweenMany) {
  const std::string many = R"({"added_tokens": [{"id": 0, "content": "</s>", "special": true},
      {"id": 2, "content": "en_XX", "special": true}, {"id": 3, "content": "de_DE", "special": true}],
    "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordLevel", "unk_token": "<unk>",
      "vocab": {"</s>": 0, "<unk>": 1, "en_XX": 2, "de_DE": 3, "gut": 4}},
    "post_processor": {"type": "TemplateProcessing", "pair": [{"Sequence": {"id": "A"}}],
      "single": [{"SpecialToken": {"id": "en_XX"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "</s>"}}],
      "special_tokens": {"en_XX": {"id": "en_XX", "ids": [2], "tokens": ["en_XX"]},
                         "</s>": {"id": "</s>", "ids": [0], "tokens": ["</s>"]}}}})";
  const auto words = std::make_shared<Tokenizer>(Tokenizer::from_json(many, "many.json"));
  TextCodec codec = codec_of_others({words, words}, {.begin = 0, .ends = {0}, .never = {}}, /*translates=*/true);
  codec.choose({});
  EXPECT_EQ(codec.source_ids("gut"), (std::vector<int>{2, 4, 0}));
  EXPECT_EQ(codec.target_ids("gut"), std::vector<int>{4});
  codec.choose({.source = "de_DE", .target = "en_XX"});
  EXPECT_EQ(codec.source_ids("gut"), (std::vector<int>{3, 4, 0}));
  EXPECT_EQ(codec.target_ids("gut"), (std::vector<int>{2, 4}));
  EXPECT_EQ(codec.source_vocabulary, codec.target_vocabulary) << "one vocabulary stays one";

  TextCodec mbart = codec_of_others({words, words}, {.begin = 2, .ends = {0}, .never = {}}, /*translates=*/true);
  mbart.choose({.target = "de_DE"});
  EXPECT_EQ(mbart.special.begin, 3) << "its decoder begins with the language";
  EXPECT_EQ(mbart.target_symbols.begin, 3);
  EXPECT_EQ(mbart.target_ids("gut"), std::vector<int>{4});

  TextCodec writes = codec_of_others({words, words}, {.begin = 0, .ends = {0}, .never = {}}, /*translates=*/false);
  EXPECT_THROW(writes.choose({.target = "de_DE"}), Error);
  EXPECT_THROW(codec.choose({.source = "fr_XX"}), Error);
}

TEST(TextCodec, AFolderKeepsHowTextsAreDecoded) {
  const std::vector<std::string> lines{"a b"};
  const auto words = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(lines));
  TextCodec codec = codec_of_others({words, words}, {}, /*translates=*/true);
  EXPECT_FALSE(to_json(codec).has("decoding"));
  codec.decoding.search.beam = 7, codec.decoding.search.no_repeat_ngram = 3, codec.decoding.sampling.top_p = 0.5;
  const Json json = to_json(codec);
  EXPECT_EQ(json["decoding"].dump(), R"({"search":{"beam":7,"no_repeat_ngram":3},"sampling":{"top_p":0.5}})");
  const DecodingOptions kept = codec_from_json(json, {words, words}, /*translates=*/true).decoding;
  EXPECT_EQ(to_json(kept), to_json(codec.decoding));
  Json broken = json;
  broken.set("decoding", Json::object({{"search", Json::object({{"beam", 0}})}, {"sampling", Json::object()}}));
  EXPECT_THROW(codec_from_json(broken, {words, words}, /*translates=*/true), Error);
}

}  // namespace
}  // namespace heed
