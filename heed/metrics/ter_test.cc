#include "heed/metrics/ter.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"

namespace heed {
namespace {

using Lines = std::vector<std::string>;

Index edits(std::string_view hypothesis, std::string_view reference) {
  return sentence_ter(hypothesis, Lines{std::string(reference)}).edits;
}

TEST(Ter, SummaryAndSignature) {
  const TerScore score = sentence_ter("a b c d", Lines{"a b x d"});
  EXPECT_EQ(score.summary(), "TER = 25.00");
  EXPECT_EQ(score.signature, "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:heed-0.1.0");
  EXPECT_EQ(sentence_ter("a", Lines{"a"},
                         {.normalized = true, .no_punct = true, .asian_support = true, .case_sensitive = true})
                .signature,
            "nrefs:1|case:mixed|tok:tercom|norm:yes|punct:no|asian:yes|version:heed-0.1.0");
}

TEST(Ter, EachKindOfEditCostsOne) {
  EXPECT_EQ(edits("a b c", "a b c"), 0);
  EXPECT_EQ(edits("a c", "a b c"), 1);
  EXPECT_EQ(edits("a b x c", "a b c"), 1);
  EXPECT_EQ(edits("a x c", "a b c"), 1);
  EXPECT_EQ(edits("c d e a b", "a b c d e"), 1);
}

TEST(Ter, SnoversExample) {
  // Snover et al. 2006, section 2: one shift, two substitutions, one insertion over 13 words.
  const TerScore score =
      sentence_ter("THIS WEEK THE SAUDIS denied information published in the new york times",
                   Lines{"SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times"});
  EXPECT_EQ(score.edits, 4);
  EXPECT_DOUBLE_EQ(score.score, 100 * 4.0 / 13);
}

TEST(Ter, TheReferenceWithFewestEditsCountsAndTheLengthIsTheMean) {
  const TerScore score = sentence_ter("a b c", Lines{"x y z u v", "a b d"});
  EXPECT_EQ(score.edits, 1);
  EXPECT_EQ(score.reference_length, 4);
}

TEST(Ter, EmptyTextsAreScored) {
  EXPECT_EQ(sentence_ter("", Lines{""}).score, 0);
  EXPECT_EQ(sentence_ter("a b", Lines{" "}).score, 100);
  EXPECT_EQ(sentence_ter("", Lines{"a b"}).score, 100);
}

TEST(Ter, LongAndRepetitiveTextsEnd) {
  std::string ones, twos;
  for (int i = 0; i < 400; ++i) {
    ones += "a b ";
    twos += "b a a ";
  }
  const Index found = edits(ones, twos);
  EXPECT_GT(found, 0);
  EXPECT_LE(found, 1200);
  EXPECT_EQ(edits("a", twos), 1199);
}

TEST(Ter, TheThreadCountChangesNothing) {
  Rng rng(7);
  Lines hypotheses(100);
  std::vector<Lines> references(2, Lines(100));
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::string* line : {&hypotheses[i], &references[0][i], &references[1][i]}) {
      for (Index word = rng.below(30); word > 0; --word) *line += " " + std::to_string(rng.below(15));
    }
  }
  const int threads = thread_count();
  set_thread_count(1);
  const TerScore alone = corpus_ter(hypotheses, references);
  set_thread_count(4);
  const TerScore together = corpus_ter(hypotheses, references);
  set_thread_count(threads);
  EXPECT_EQ(together.edits, alone.edits);
  EXPECT_EQ(together.score, alone.score);
}

TEST(Ter, WhatIsWrongIsRefused) {
  EXPECT_THROW(sentence_ter("a", {}), Error);
  EXPECT_THROW(sentence_ter("\xFF", Lines{"a"}), Error);
  EXPECT_THROW(corpus_ter(Lines{"a", "b"}, std::vector<Lines>{{"a"}}), Error);
}

}  // namespace
}  // namespace heed
