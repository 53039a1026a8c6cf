#include "heed/metrics/chrf.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed {
namespace {

using Lines = std::vector<std::string>;

TEST(Chrf, NameAndSignatureSayEverythingThatChangesTheScore) {
  const Lines references = {"a b"};
  const ChrfScore plain = sentence_chrf("a b", references);
  EXPECT_EQ(plain.summary(), "chrF2 = 100.00");
  EXPECT_EQ(plain.signature, "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:heed-0.1.0");
  const ChrfScore other = sentence_chrf(
      "a b", references,
      {.char_order = 5, .word_order = 2, .beta = 3, .whitespace = true, .lowercase = true, .eps_smoothing = true});
  EXPECT_EQ(other.name, "chrF3++");
  EXPECT_EQ(other.signature, "nrefs:1|case:lc|eff:no|nc:5|nw:2|space:yes|version:heed-0.1.0");
}

TEST(Chrf, OneOrderIsTheFScoreOfItsDefinition) {
  // 2 of 4 characters are right, of 8 that were asked for: P = 1/2, R = 1/4, F2 = 5 P R / (4 P + R).
  const ChrfScore score = sentence_chrf("abxy", Lines{"abcdefgh"}, {.char_order = 1});
  EXPECT_DOUBLE_EQ(score.score, 100 * 5 * 0.5 * 0.25 / (4 * 0.5 + 0.25));
}

TEST(Chrf, PunctuationIsAWordOfItsOwn) {
  // One mark only, and the end comes first: "(hi)" is "(hi" and ")".
  const ChrfOptions words = {.char_order = 1, .word_order = 1};
  EXPECT_DOUBLE_EQ(sentence_chrf("hi) you.", Lines{"hi ) you ."}, words).score, 100);
  EXPECT_LT(sentence_chrf("(hi)", Lines{"( hi )"}, words).score, 100);
  EXPECT_DOUBLE_EQ(sentence_chrf("\"so", Lines{"\" so"}, words).score, 100);
}

TEST(Chrf, EachSegmentTakesItsBestReference) {
  const Lines hypotheses = {"abc", "xyz"};
  const std::vector<Lines> references = {{"abc", "qqq"}, {"rrr", "xyz"}};
  EXPECT_DOUBLE_EQ(corpus_chrf(hypotheses, references).score, 100);
  EXPECT_LT(corpus_chrf(hypotheses, std::span(references).first(1)).score, 100);
}

TEST(Chrf, CharactersAreCodePointsAndNotBytes) {
  // As bytes, half of each of these characters would match.
  EXPECT_EQ(sentence_chrf("\u00E4\u00F6", Lines{"\u00E5\u00F8"}).score, 0);
}

TEST(Chrf, OptionsOutOfRangeAreRefused) {
  const Lines references = {"a"};
  EXPECT_THROW(sentence_chrf("a", references, {.char_order = 0}), Error);
  EXPECT_THROW(sentence_chrf("a", references, {.word_order = -1}), Error);
  EXPECT_THROW(sentence_chrf("a", references, {.beta = 0}), Error);
  EXPECT_THROW(sentence_chrf("a", {}), Error);
}

}  // namespace
}  // namespace heed
