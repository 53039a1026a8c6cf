#include "heed/tasks/piece_shares.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/corpus/corpus.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

double sum(const std::vector<std::vector<double>>& shares, std::size_t piece) {
  double total = 0;
  for (const std::vector<double>& token : shares) total += token[piece];
  return total;
}

TEST(PieceShares, EachPieceIsOfItsWord) {
  const std::vector<std::string> lines = {"ab cd . ef"};
  const WhitespaceVocabulary words = WhitespaceVocabulary::build(lines);
  const std::vector<std::vector<double>> one_each = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_EQ(piece_shares(words, "ab cd ."), one_each);
  EXPECT_EQ(piece_shares(words, "ab  unknown-word ef"), one_each);
  EXPECT_TRUE(piece_shares(words, "  ").empty());
}

TEST(PieceShares, APieceOverSeveralTokensIsSharedByTheirCharacters) {
  const std::vector<std::string> lines = {"läuft. b"};
  const WhitespaceVocabulary words = WhitespaceVocabulary::build(lines);
  const auto shares = piece_shares(words, "läuft. b");
  ASSERT_EQ(shares.size(), 3u);  // läuft . b
  EXPECT_NEAR(shares[0][0], 5.0 / 6, 1e-12);
  EXPECT_NEAR(shares[1][0], 1.0 / 6, 1e-12);
  EXPECT_EQ(shares[2], (std::vector<double>{0, 1}));
}

TEST(PieceShares, OfSubwordPiecesAddUpAndKeepTheirPlaces) {
  std::vector<std::string> lines;
  for (const SentencePair& pair : generate_corpus({.pairs = 300, .seed = 4, .validation = 0, .test = 0}).train) {
    lines.push_back(pair.source);
  }
  for (Index size : {80, 150, 400}) {
    const auto pieces = SentencePieceVocabulary::train(
        lines, {.model = SentencePieceModel::bpe, .vocabulary_size = size, .character_coverage = 1.0});
    for (std::size_t i = 0; i < 50; ++i) {
      const std::vector<int> ids = pieces.encode(lines[i]);
      const std::vector<std::string> tokens = alignment_tokens(lines[i]);
      const auto shares = piece_shares(pieces, lines[i]);
      ASSERT_EQ(shares.size(), tokens.size()) << lines[i];
      for (std::size_t p = 0; p < ids.size(); ++p) EXPECT_NEAR(sum(shares, p), 1, 1e-9) << lines[i];
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        // The pieces that are wholly of a token, put together, spell it.
        std::string spelt;
        bool whole = true;
        for (std::size_t p = 0; p < ids.size(); ++p) {
          whole = whole && (shares[t][p] == 0 || shares[t][p] > 1 - 1e-9);
          if (shares[t][p] > 0) spelt += pieces.decode({&ids[p], 1});
        }
        std::erase(spelt, ' ');
        if (whole) {
          EXPECT_EQ(spelt, tokens[t]) << lines[i];
        }
      }
    }
  }
}

TEST(PieceShares, ACharacterThatTheVocabularyLostMovesNothingElse) {
  const std::vector<std::string> lines(20, "der hund sieht das haus .");
  const auto pieces = SentencePieceVocabulary::train(lines, {.model = SentencePieceModel::bpe, .vocabulary_size = 30});
  const auto shares = piece_shares(pieces, "der XYZ das haus.");
  ASSERT_EQ(shares.size(), 5u);
  const std::vector<int> ids = pieces.encode("der XYZ das haus.");
  for (std::size_t p = 0; p < ids.size(); ++p) EXPECT_NEAR(sum(shares, p), 1, 1e-9);
  EXPECT_GT(shares[0].front(), 1 - 1e-9);
  EXPECT_GT(shares[4].back(), 1 - 1e-9);
}

}  // namespace
}  // namespace heed
