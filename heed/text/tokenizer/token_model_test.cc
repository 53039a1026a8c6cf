#include "heed/text/tokenizer/token_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/testing/refusal.h"
#include "heed/text/tokenizer/bpe_model.h"

namespace heed {
namespace {

using Strings = std::vector<std::string>;

std::unique_ptr<const TokenModel> model(std::string_view json, bool long_words = false) {
  return read_token_model(Json::parse(json, "model"), long_words);
}

Strings pieces(const TokenModel& of, std::string_view word) {
  std::vector<int> ids;
  of.tokenize(word, ids);
  Strings all;
  for (const int id : ids) all.push_back(of.pieces().piece(id));
  return all;
}
Strings pieces(std::string_view json, std::string_view word) { return pieces(*model(json), word); }

std::string refused_model(std::string_view json) {
  return testing::refusal([&] { model(json); });
}

TEST(BpeModel, TheBestPairIsMergedFirstAndOfEqualOnesTheLeftmost) {
  constexpr std::string_view kModel =
      R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "bc": 3, "ab": 4, "abc": 5, "aa": 6},
          "merges": ["b c", "a b", "a bc", "a a"]})";
  EXPECT_EQ(pieces(kModel, "abc"), (Strings{"abc"}));
  EXPECT_EQ(pieces(kModel, "ab"), (Strings{"ab"}));
  EXPECT_EQ(pieces(kModel, "aaa"), (Strings{"aa", "a"}));
  EXPECT_EQ(pieces(kModel, "aab"), (Strings{"a", "ab"}));
}

TEST(BpeModel, CharactersWithoutAPieceAreUnknownOrBytesOrGone) {
  EXPECT_EQ(pieces(R"({"type": "BPE", "vocab": {"a": 0}, "merges": []})", "xay"), (Strings{"a"}));
  EXPECT_EQ(pieces(R"({"type": "BPE", "vocab": {"a": 0, "?": 1}, "merges": [], "unk_token": "?"})", "xyaz"),
            (Strings{"?", "?", "a", "?"}));
  EXPECT_EQ(
      pieces(R"({"type": "BPE", "vocab": {"a": 0, "?": 1}, "merges": [], "unk_token": "?", "fuse_unk": true})", "xyaz"),
      (Strings{"?", "a", "?"}));
  EXPECT_EQ(pieces(R"({"type": "BPE", "vocab": {"a": 0, "<0xC3>": 1, "<0xA9>": 2, "?": 3}, "merges": [],
                       "unk_token": "?", "byte_fallback": true})",
                   "aéx"),
            (Strings{"a", "<0xC3>", "<0xA9>", "?"}));
}

TEST(TokenModel, AnUnknownTokenThatIsNotThereIsMissedWhereItIsNeeded) {
  for (const std::string model : {R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "?"})",
                                  R"({"type": "WordPiece", "vocab": {"a": 0, "##a": 1}, "unk_token": "?"})"}) {
    EXPECT_EQ(pieces(model, "aa").front(), "a");
    EXPECT_NE(testing::refusal([&] { pieces(model, "ax"); }).find("the unknown token '?' is not in the vocabulary"),
              std::string::npos)
        << model;
  }
}

TEST(BpeModel, CharactersMayHaveAPrefixAndASuffix) {
  EXPECT_EQ(pieces(R"({"type": "BPE", "vocab": {"a": 0, "##b": 1, "ab": 2, "##c</w>": 3}, "merges": ["a ##b"],
                       "continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"})",
                   "abc"),
            (Strings{"ab", "##c</w>"}));
}

TEST(BpeModel, AWordThatIsAPieceMayBeTaken) {
  constexpr std::string_view kRest = R"("vocab": {"a": 0, "b": 1, "ab": 2}, "merges": []})";
  EXPECT_EQ(pieces(std::string(R"({"type": "BPE", "ignore_merges": true, )") + std::string(kRest), "ab"),
            (Strings{"ab"}));
  EXPECT_EQ(pieces(std::string(R"({"type": "BPE", )") + std::string(kRest), "ab"), (Strings{"a", "b"}));
}

// A few symbols are merged by looking at all pairs, many by a queue, and a long word falls apart where nothing joins.
TEST(BpeModel, TheWaysToMergeAgree) {
  Rng rng(3);
  PieceTable table;
  std::vector<std::pair<std::string, std::string>> merges;
  Strings known = {"a", "b", "c", "_"};
  for (const std::string& piece : known) table.add(piece, table.size());
  while (merges.size() < 60) {
    const std::string& left = known[static_cast<std::size_t>(rng.below(std::ssize(known)))];
    const std::string& right = known[static_cast<std::size_t>(rng.below(std::ssize(known)))];
    if (right.starts_with('_') || left.size() + right.size() > 12) continue;  // "_" only begins pieces
    merges.emplace_back(left, right);
    if (table.find(left + right) < 0) {
      table.add(left + right, table.size());
      known.push_back(left + right);
    }
  }
  const auto whole = BpeModel::with_merges(PieceTable(table), merges, {});
  const auto apart = BpeModel::with_merges(PieceTable(table), merges, {.long_words = true});
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const Index length = 1 + rng.below(round < 200 ? 40 : 400);
    for (Index i = 0; i < length; ++i) text += "abc_"[rng.below(4)];
    EXPECT_EQ(pieces(*whole, text), pieces(*apart, text)) << text;
    // Word by word: no merge reaches over a "_".
    Strings by_word;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('_', begin + 1), text.size());
      const Strings word = pieces(*whole, text.substr(begin, end - begin));
      by_word.insert(by_word.end(), word.begin(), word.end());
      begin = end;
    }
    EXPECT_EQ(pieces(*whole, text), by_word) << text;
  }
}

TEST(BpeModel, ScoresDecideWhichPairComesFirst) {
  constexpr std::string_view kModel =
      R"({"type": "ScoredBPE", "unmergeable": [0], "unk_token": "<unk>", "fuse_unk": true,
          "vocab": [["<unk>", 0], ["a", -9], ["b", -9], ["c", -9], ["ab", -2], ["bc", -1], ["abc", -3]]})";
  EXPECT_EQ(pieces(kModel, "abc"), (Strings{"abc"}));
  EXPECT_EQ(pieces(kModel, "abcb"), (Strings{"abc", "b"}));
  EXPECT_EQ(pieces(kModel, "bcab"), (Strings{"bc", "ab"}));
  EXPECT_EQ(pieces(kModel, "axyb"), (Strings{"a", "<unk>", "b"}));
}

TEST(WordPieceModel, TheLongestPieceIsTakenFromTheLeft) {
  constexpr std::string_view kModel =
      R"({"type": "WordPiece", "unk_token": "[UNK]", "max_input_chars_per_word": 6,
          "vocab": {"[UNK]": 0, "un": 1, "una": 2, "##aff": 3, "##able": 4, "##é": 5, "é": 6, "a": 7}})";
  EXPECT_EQ(pieces(kModel, "unaff"), (Strings{"[UNK]"}));
  EXPECT_EQ(pieces(kModel, "unable"), (Strings{"[UNK]"}));  // "una" is longer than "un"
  EXPECT_EQ(pieces(kModel, "unéé"), (Strings{"un", "##é", "##é"}));
  EXPECT_EQ(pieces(kModel, "é"), (Strings{"é"}));
  EXPECT_EQ(pieces(kModel, "ééééééé"), (Strings{"[UNK]"}));
  EXPECT_EQ(pieces(kModel, "ab"), (Strings{"[UNK]"}));
}

TEST(WordLevelModel, AWordIsAPieceOrUnknown) {
  EXPECT_EQ(pieces(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a b": 1}})", "a b"), (Strings{"a b"}));
  EXPECT_EQ(pieces(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}})", "a"), (Strings{"?"}));
  const auto without = model(R"({"type": "WordLevel", "vocab": {"a": 0}})");
  EXPECT_NE(testing::refusal([&] { pieces(*without, "b"); }).find("neither 'b' nor an unknown"), std::string::npos);
}

TEST(UnigramModel, TheLargestSumOfScoresWins) {
  constexpr std::string_view kModel = R"({"type": "Unigram", "unk_id": 0,
      "vocab": [["<unk>", 0], ["a", -1], ["b", -1.5], ["ab", -2.4], ["abc", -9], ["c", -2], ["bc", -4]]})";
  EXPECT_EQ(pieces(kModel, "ab"), (Strings{"ab"}));
  EXPECT_EQ(pieces(kModel, "abc"), (Strings{"ab", "c"}));
  EXPECT_EQ(pieces(kModel, "bb"), (Strings{"b", "b"}));
  EXPECT_EQ(pieces(kModel, "axyzb"), (Strings{"a", "<unk>", "b"}));
  EXPECT_EQ(pieces(R"({"type": "Unigram", "unk_id": 0, "byte_fallback": true,
                       "vocab": [["<unk>", 0], ["a", -1], ["<0xC3>", -5], ["<0xA9>", -5]]})",
                   "aéx"),
            (Strings{"a", "<unk>"}));  // one run, of which not all bytes have a piece
  const auto without = model(R"({"type": "Unigram", "vocab": [["a", -1]]})");
  EXPECT_NE(testing::refusal([&] { pieces(*without, "b"); }).find("'b' has no piece"), std::string::npos);
}

// Beside the definition: the best of all ways to cut a word.
TEST(UnigramModel, NoOtherWayToCutAWordHasALargerSum) {
  Rng rng(9);
  std::string list = R"(["<unk>", 0], ["a", -3.5], ["b", -3.25])";
  std::vector<std::pair<std::string, double>> scored = {{"a", -3.5}, {"b", -3.25}};
  for (int length = 2; length <= 4; ++length) {
    for (int bits = 0; bits < 1 << length; bits += 1 + static_cast<int>(rng.below(3))) {
      std::string piece;
      for (int i = 0; i < length; ++i) piece += (bits >> i & 1) != 0 ? 'a' : 'b';
      const double score = -1.0 - static_cast<double>(rng.below(1000)) / 64;
      scored.emplace_back(piece, score);
      list += fmt::format(R"(, ["{}", {}])", piece, score);
    }
  }
  const auto viterbi = model(R"({"type": "Unigram", "unk_id": 0, "vocab": [)" + list + "]}");
  const auto score_of = [&](const std::string& piece) {
    for (const auto& [text, score] : scored) {
      if (text == piece) return score;
    }
    return -1e9;
  };
  for (int round = 0; round < 100; ++round) {
    std::string word;
    for (Index i = 1 + rng.below(12); i > 0; --i) word += "ab"[rng.below(2)];
    double best = -1e9, got = 0;
    for (int cuts = 0; cuts < 1 << (word.size() - 1); ++cuts) {
      double sum = 0;
      std::size_t begin = 0;
      for (std::size_t end = 1; end <= word.size(); ++end) {
        if (end < word.size() && (cuts >> (end - 1) & 1) == 0) continue;
        sum += score_of(word.substr(begin, end - begin));
        begin = end;
      }
      best = std::max(best, sum);
    }
    std::string joined;
    for (const std::string& piece : pieces(*viterbi, word)) {
      got += score_of(piece);
      joined += piece;
    }
    EXPECT_EQ(joined, word);
    EXPECT_NEAR(got, best, 1e-9) << word;
  }
}

TEST(TokenModel, OldFilesDoNotSayTheirType) {
  EXPECT_EQ(pieces(R"({"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]})", "ab"), (Strings{"ab"}));
  EXPECT_EQ(pieces(R"({"vocab": [["a", -1]], "unk_id": 0})", "a"), (Strings{"a"}));
  EXPECT_EQ(pieces(R"({"vocab": {"[UNK]": 0, "a": 1, "##b": 2}, "max_input_chars_per_word": 100})", "ab"),
            (Strings{"a", "##b"}));
}

TEST(TokenModel, WhatIsUnsoundIsRefusedByItsPlace) {
  EXPECT_EQ(refused_model(R"({"type": "Neural"})"),
            "model: type: must be BPE, WordPiece, WordLevel or Unigram, but is "
            "\"Neural\"");
  EXPECT_EQ(refused_model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})"),
            "model: merge 1: 'b' is not in the vocabulary");
  EXPECT_EQ(refused_model(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})"),
            "model: merge 1: 'ab' is not in the vocabulary");
  EXPECT_NE(refused_model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]})").find("merges[0]"),
            std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a a a"]})").find("merges[0]"),
            std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1})").find("dropout"),
            std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "BPE", "vocab": {}, "merges": []})").find("must hold pieces"), std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "BPE", "vocab": {"a": 99999999999}, "merges": []})").find("vocab.a"),
            std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "BPE", "vocab": {"a": -1}, "merges": []})").find("vocab.a"), std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []})").find("same id 0"),
            std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "Unigram", "vocab": []})").find("no pieces"), std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "Unigram", "vocab": [["a", 1]], "unk_id": 1})").find("unk_id"),
            std::string::npos);
  EXPECT_NE(refused_model(R"({"type": "Unigram", "vocab": [["a"]]})").find("vocab[0]"), std::string::npos);
}

}  // namespace
}  // namespace heed
