#include "heed/text/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "heed/base/file.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using Ids = std::vector<int>;

// Words of a list, with special tokens around them; "Foo" is found before anything is lower-cased.
constexpr std::string_view kWords = R"({
  "version": "1.0", "truncation": {"max_length": 2}, "padding": null,
  "added_tokens": [
    {"id": 0, "content": "[UNK]", "special": true, "normalized": false},
    {"id": 1, "content": "[CLS]", "special": true, "normalized": false},
    {"id": 2, "content": "[SEP]", "special": true, "normalized": false, "lstrip": true},
    {"id": 6, "content": "Foo", "special": false, "normalized": false, "single_word": true},
    {"id": 7, "content": "BAR", "special": false, "normalized": true, "rstrip": true}],
  "normalizer": {"type": "Lowercase"},
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                       "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
  "decoder": null,
  "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4,
                                                                 "xfoo": 5}}})";

Tokenizer words() { return Tokenizer::from_json(kWords, "words"); }

TEST(Tokenizer, IdsAreTheWordsAndTheTokensThatTheTextSpells) {
  const Tokenizer tokenizer = words();
  EXPECT_EQ(tokenizer.encode("A b c"), (Ids{3, 4, 0}));
  EXPECT_EQ(tokenizer.encode("a[CLS]b"), (Ids{3, 1, 4}));
  EXPECT_EQ(tokenizer.encode("a Foo xFoo"), (Ids{3, 6, 5}));  // a single word
  EXPECT_EQ(tokenizer.encode("aBaR  b"), (Ids{3, 7, 4}));     // in the text that is lower-cased, with what follows
  EXPECT_TRUE(tokenizer.encode("").empty());
  EXPECT_TRUE(tokenizer.encode("  ").empty());
}

TEST(Tokenizer, ThePostProcessorPutsTokensAroundATextAndAPair) {
  const Tokenizer tokenizer = words();
  EXPECT_EQ(tokenizer.encode_special("a b"), (EncodedText{{1, 3, 4, 2}, {0, 0, 0, 0}}));
  EXPECT_EQ(tokenizer.encode_special("a", "b b"), (EncodedText{{1, 3, 2, 4, 4}, {0, 0, 0, 1, 1}}));
  EXPECT_EQ(tokenizer.encode_special(""), (EncodedText{{1, 2}, {0, 0}}));
}

TEST(Tokenizer, ThePostProcessorMayAddWhatIsNoToken) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"model": {"type": "WordLevel", "vocab": {"a": 0}},
          "post_processor": {"type": "BertProcessing", "sep": ["s", 9], "cls": ["a", 0]}})",
      "hole");
  EXPECT_EQ(tokenizer.size(), 10);
  EXPECT_EQ(tokenizer.encode_special("a").ids, (Ids{0, 0, 9}));
  EXPECT_EQ(tokenizer.decode(Ids{0, 9}), "a");
}

// The ids of a tokenizer of the words "a", "b" (0, 1) and "?", with these added tokens.
Ids ids_with(std::string_view added, std::string_view text, std::string_view normaliser = "null") {
  return Tokenizer::from_json(fmt::format(R"({{"normalizer": {}, "added_tokens": [{}],
      "pre_tokenizer": {{"type": "WhitespaceSplit"}},
      "model": {{"type": "WordLevel", "unk_token": "?", "vocab": {{"a": 0, "b": 1, "?": 2}}}}}})",
                                          normaliser, added),
                              "added")
      .encode(text);
}

TEST(Tokenizer, SpaceThatATokenTookAlongIsNoToken) {
  constexpr std::string_view kSpaces = R"({"content": "  ", "lstrip": true, "rstrip": true, "normalized": false})";
  EXPECT_EQ(ids_with(kSpaces, "a      b"), (Ids{0, 3, 1}));
  EXPECT_EQ(ids_with(kSpaces, "a  b   "), (Ids{0, 3, 1, 3}));
}

TEST(Tokenizer, OfTwoSpecialTokensOfOneSpellingTheFirstIsLookedFor) {
  // In the normalised text, as the first has it; but what it takes along is what the second says.
  constexpr std::string_view kTwice = R"({"content": "AB", "special": true, "normalized": true},
                                         {"content": "AB", "special": true, "normalized": false, "rstrip": true})";
  EXPECT_EQ(ids_with(kTwice, "aBa ab  b", R"({"type": "Lowercase"})"), (Ids{3, 0, 3, 1}));
}

TEST(Tokenizer, ATokenWithoutAnIdComesBehindAllThePiecesThatWereListed) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"added_tokens": [{"id": 9, "content": "new"}],
          "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["a", -2]]}})",
      "twice");
  EXPECT_EQ(tokenizer.encode("new"), (Ids{3}));
}

TEST(Tokenizer, NewTokensAreCountedFromTheNumberOfPiecesWhateverIdsThoseHave) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"added_tokens": [{"content": "x"}, {"content": "b"}, {"content": "y"}],
          "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, "b": 7}}})",
      "holes");
  EXPECT_EQ(tokenizer.encode("xby"), (Ids{2, 7, 3}));
}

TEST(Tokenizer, WhatFollowsSpaceThatIsStrippedIsNotTheFirst) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"normalizer": {"type": "Strip", "strip_left": true, "strip_right": true},
          "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"},
          "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "_a": 2}}})",
      "strip");
  EXPECT_EQ(tokenizer.encode("a a "), (Ids{2, 2}));
  EXPECT_EQ(tokenizer.encode("  a a"), (Ids{1, 2}));
}

TEST(Tokenizer, SpecialTokensAreWrittenOrDropped) {
  const Tokenizer tokenizer = words();
  EXPECT_EQ(tokenizer.decode(Ids{1, 3, 6, 2}), "a Foo");
  EXPECT_EQ(tokenizer.decode(Ids{1, 3, 6, 2}, Specials::keep), "[CLS] a Foo [SEP]");
  EXPECT_TRUE(tokenizer.is_special(1));
  EXPECT_FALSE(tokenizer.is_special(6));
  EXPECT_EQ(tokenizer.decode({}), "");
}

TEST(Tokenizer, PiecesAreFoundBothWays) {
  const Tokenizer tokenizer = words();
  EXPECT_EQ(tokenizer.size(), 8);
  for (int id = 0; id < tokenizer.size(); ++id) EXPECT_EQ(tokenizer.id_of(tokenizer.piece(id)), id);
  EXPECT_EQ(tokenizer.id_of("nowhere"), -1);
  for (const int id : {-1, 8}) {
    EXPECT_THROW(tokenizer.piece(id), Error);
    EXPECT_THROW(tokenizer.decode(Ids{id}), Error);
    EXPECT_FALSE(tokenizer.is_special(id));
  }
}

TEST(Tokenizer, SymbolsHaveTheIdsOfTheirNames) {
  const Tokenizer tokenizer = words();
  EXPECT_EQ(tokenizer.symbols(), (SymbolIds{.unknown = 0, .classifier = 1, .separator = 2}));
  EXPECT_EQ(tokenizer.pad(), -1);
  EXPECT_EQ(tokenizer.with_symbols({.pad = 3}).pad(), 3);
  EXPECT_THROW(tokenizer.with_symbols({.pad = 8}), Error);
}

TEST(Tokenizer, WordsAreCountedOverThePieces) {
  EXPECT_EQ(words().word_of_pieces(Ids{1, 3, 6, 2}), (Ids{-1, 0, 1, -1}));
}

TEST(Tokenizer, WhatIsSavedLoadsToTheSame) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "heed_tokenizer_test";
  const Tokenizer tokenizer = words().with_symbols({.pad = 5, .unknown = 0});
  tokenizer.save(folder, "v");
  const auto loaded = load_vocabulary(folder, "v");
  EXPECT_EQ(loaded->kind(), "tokenizer");
  EXPECT_EQ(loaded->symbols(), tokenizer.symbols());
  EXPECT_EQ(loaded->encode_special("a Foo", "b").ids, tokenizer.encode_special("a Foo", "b").ids);
  std::filesystem::remove_all(folder);
}

TEST(Tokenizer, TextThatIsNotUtf8IsRefused) {
  const Tokenizer tokenizer = words();
  for (const char* bad : {"a\xFF", "a\xC3", "a\xED\xA0\x80"}) {
    EXPECT_EQ(testing::refusal([&] { tokenizer.encode(bad); }), "encode: byte 1 of the text is not valid UTF-8");
  }
  EXPECT_EQ(tokenizer.encode(std::string("a\0b", 3)), (Ids{0}));
}

TEST(Tokenizer, ManyThreadsMayUseOne) {
  const Tokenizer tokenizer = words();
  std::vector<Ids> ids(4);
  std::vector<std::thread> threads;
  for (Ids& mine : ids) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) mine = tokenizer.encode("a b Foo c [CLS] xfoo");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ids& mine : ids) EXPECT_EQ(mine, ids[0]);
}

// A vocabulary of Llama's kind has no pre-tokenizer: a whole text is one word.
TEST(Tokenizer, ALongTextTakesTimeInProportion) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "_"},
          "decoder": {"type": "Replace", "pattern": {"String": "_"}, "content": " "},
          "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "_": 2, "_a": 3, "ab": 4, "aa": 5, "aaaa": 6},
                    "merges": ["_ a", "a b", "a a", "aa aa"]}})",
      "long");
  std::string text;
  while (text.size() < (1 << 20)) text += "ab aab ";
  const Ids ids = tokenizer.encode(text);
  EXPECT_EQ(Ids(ids.begin(), ids.begin() + 5), (Ids{4, 3, 4, 3, 1}));
  const Ids run = tokenizer.encode(std::string(1 << 18, 'a'));
  EXPECT_EQ(run, Ids(1 << 16, 6));
}

TEST(Tokenizer, TokensMayBeAddedByTheTenThousand) {
  std::string added;  // as those of pictures are
  for (int n = 0; n < 60000; ++n)
    added += fmt::format(R"({}{{"id": {}, "content": "<picture token {}>"}})", n == 0 ? "" : ",", n + 1, n);
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"added_tokens": [)" + added + R"(], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})", "many");
  EXPECT_EQ(tokenizer.encode("a<picture token 59999>a<picture token 7><picture token 77>"), (Ids{0, 60000, 0, 8, 78}));
}

TEST(Tokenizer, WhatAFileAsksForAndIsNotThereIsOneError) {
  const auto refusal = [](std::string_view json) {
    return testing::refusal([&] { Tokenizer::from_json(json, "file.json"); });
  };
  EXPECT_NE(refusal("{").find("file.json:1"), std::string::npos);
  EXPECT_NE(refusal("{}").find("file.json: the key \"model\" is missing"), std::string::npos);
  constexpr std::string_view kModel = R"("model": {"type": "WordLevel", "vocab": {"a": 0}})";
  const auto with = [&](std::string_view more) { return fmt::format("{{{}, {}}}", more, kModel); };
  EXPECT_EQ(refusal(with(R"("decoder": null)")), "no error");
  EXPECT_NE(refusal(with(R"("normalizer": {"type": "X"})")).find("file.json: normalizer.type"), std::string::npos);
  EXPECT_NE(refusal(with(R"("pre_tokenizer": 3)")).find("file.json: pre_tokenizer"), std::string::npos);
  EXPECT_NE(refusal(with(R"("post_processor": {"type": "X"})")).find("post_processor.type"), std::string::npos);
  EXPECT_NE(refusal(with(R"("added_tokens": [{"id": 1}])")).find("added_tokens[0]: the key \"content\" is missing"),
            std::string::npos);
  EXPECT_NE(refusal(with(fmt::format(R"("added_tokens": [{{"content": "{}"}}])", std::string(5000, 'x'))))
                .find("added_tokens[0]"),
            std::string::npos);
  EXPECT_NE(refusal(with(R"("symbols": {"pad": 7})")).find("symbols.pad"), std::string::npos);
  EXPECT_NE(refusal(with(R"("post_processor": {"type": "Sequence", "processors": [
                {"type": "BertProcessing", "sep": ["s", 0], "cls": ["c", 0]},
                {"type": "BertProcessing", "sep": ["s", 0], "cls": ["c", 0]}]})"))
                .find("processors[1]"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
