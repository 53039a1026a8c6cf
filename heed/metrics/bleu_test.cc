#include "heed/metrics/bleu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;
using Lines = std::vector<std::string>;

const Lines kHypotheses = {"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
const std::vector<Lines> kReferences = {
    {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
    {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};

TEST(Bleu, SummaryIsSacreBleusLine) {
  const BleuScore score = corpus_bleu(kHypotheses, kReferences);
  EXPECT_EQ(score.summary(), "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
  EXPECT_EQ(BleuScore().summary(), "BLEU = 0.00  (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)");
}

TEST(Bleu, SignatureSaysEverythingThatChangesTheScore) {
  const auto signature = [](const BleuOptions& options) {
    return corpus_bleu(kHypotheses, kReferences, options).signature;
  };
  const std::string version = "|version:heed-0.1.0";
  EXPECT_EQ(signature({}), "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp" + version);
  EXPECT_EQ(signature({.tokenizer = BleuTokenizer::intl, .lowercase = true, .effective_order = true}),
            "nrefs:2|case:lc|eff:yes|tok:intl|smooth:exp" + version);
  EXPECT_EQ(signature({.smoothing = BleuSmoothing::floor}),
            "nrefs:2|case:mixed|eff:no|tok:13a|smooth:floor[0.10]" + version);
  EXPECT_EQ(signature({.max_order = 2, .smoothing = BleuSmoothing::add_k, .smoothing_value = 0.5}),
            "nrefs:2|case:mixed|eff:no|tok:13a|smooth:add-k[0.50]|order:2" + version);
}

TEST(Bleu, SignatureHasTheProjectsVersion) {
  const std::string cmake = read_file(std::string(HEED_SOURCE_DIR) + "/CMakeLists.txt");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(cmake, match, std::regex(R"(project\(heed VERSION ([0-9.]+))")));
  const std::string expected = "|version:heed-" + match[1].str();
  const std::string signature = corpus_bleu(kHypotheses, kReferences).signature;
  EXPECT_EQ(signature.substr(signature.find("|version:")), expected);
}

TEST(Bleu, ACorpusAgainstItselfScoresAHundred) {
  for (const BleuTokenizer tokenizer : {BleuTokenizer::none, BleuTokenizer::v13a, BleuTokenizer::intl}) {
    const BleuScore score = corpus_bleu(kHypotheses, std::vector<Lines>{kHypotheses}, {.tokenizer = tokenizer});
    EXPECT_DOUBLE_EQ(score.score, 100);
    EXPECT_EQ(score.brevity_penalty, 1);
  }
}

TEST(Bleu, MatchesAreClippedAtTheLargestCountInOneReference) {
  // Papineni et al. 2002, example 2.
  const std::vector<Lines> references = {{"the cat is on the mat"}, {"there is a cat on the mat"}};
  const BleuScore score = corpus_bleu(Lines{"the the the the the the the"}, references);
  EXPECT_EQ(score.counts, (std::vector<Index>{2, 0, 0, 0}));
  EXPECT_EQ(score.totals, (std::vector<Index>{7, 6, 5, 4}));
}

TEST(Bleu, TheClosestReferenceGivesTheLengthAndTheShorterOfTwoAsClose) {
  const std::vector<Lines> references = {{"a b c d e f"}, {"a b c d"}, {"a b c d e f g h i"}};
  EXPECT_EQ(corpus_bleu(Lines{"a b c d e"}, references).reference_length, 4);
  EXPECT_EQ(corpus_bleu(Lines{"a b c d e f g h"}, references).reference_length, 9);
}

TEST(Bleu, ShortHypothesesPayTheBrevityPenalty) {
  const BleuScore score = corpus_bleu(Lines{"a b c d"}, std::vector<Lines>{{"a b c d e"}});
  EXPECT_DOUBLE_EQ(score.brevity_penalty, std::exp(1 - 5.0 / 4));
  EXPECT_DOUBLE_EQ(score.score, 100 * score.brevity_penalty);
}

TEST(Bleu, CaseMattersUnlessLowered) {
  const Lines hypotheses = {"THE DOG BIT THE MAN."};
  const std::vector<Lines> references = {{"the dog bit the man."}};
  EXPECT_LT(corpus_bleu(hypotheses, references).score, 50);
  EXPECT_DOUBLE_EQ(corpus_bleu(hypotheses, references, {.lowercase = true}).score, 100);
}

TEST(Bleu, ASentenceUsesTheOrdersItHas) {
  const Lines references = {"a b"};
  EXPECT_DOUBLE_EQ(sentence_bleu("a b", references).score, 100);
  EXPECT_EQ(sentence_bleu("a b", references, {}).score, 0);
  EXPECT_EQ(sentence_bleu("", references).score, 0);
  EXPECT_EQ(sentence_bleu("c", Lines{""}).score, 0);
}

TEST(Bleu, TheThreadCountChangesNothing) {
  Lines hypotheses, references;
  for (int i = 0; i < 300; ++i) {
    hypotheses.push_back(kHypotheses[i % 3] + " " + std::to_string(i));
    references.push_back(kReferences[0][i % 3] + " " + std::to_string(i - i % 2));
  }
  const std::vector<Lines> sets = {references};
  const int threads = thread_count();
  set_thread_count(1);
  const double alone = corpus_bleu(hypotheses, sets).score;
  set_thread_count(4);
  EXPECT_EQ(corpus_bleu(hypotheses, sets).score, alone);
  set_thread_count(threads);
}

TEST(Bleu, WhatIsWrongIsNamed) {
  const std::vector<Lines> one = {{"a"}};
  EXPECT_EQ(refusal([&] { corpus_bleu({}, one); }), "corpus_bleu: there are no hypotheses");
  EXPECT_EQ(refusal([&] { corpus_bleu(Lines{"a"}, {}); }), "corpus_bleu: there are no references");
  EXPECT_EQ(refusal([&] {
              corpus_bleu(Lines{"a", "b"}, one);
            }),
            "corpus_bleu: 2 hypotheses, but 1 references in set 1");
  EXPECT_EQ(refusal([&] { corpus_bleu(Lines{"a\xFF"}, one); }), "corpus_bleu: hypothesis 1: byte 1 is not valid UTF-8");
  EXPECT_EQ(refusal([&] {
              corpus_bleu(Lines{"a"}, std::vector<Lines>{{"a"}, {"\xC3"}});
            }),
            "corpus_bleu: reference set 2, line 1: byte 0 is not valid UTF-8");
  EXPECT_EQ(refusal([&] { corpus_bleu(Lines{"a"}, one, {.max_order = 0}); }),
            "corpus_bleu: max_order must be 1 to 100, but is 0");
  EXPECT_EQ(refusal([&] { corpus_bleu(Lines{"a"}, one, {.smoothing_value = -1.0}); }),
            "corpus_bleu: smoothing_value must be finite and not negative, but is -1");
  EXPECT_EQ(refusal([&] { bleu_from_counts(std::vector<Index>{2}, std::vector<Index>{1}, 1, 1, {.max_order = 1}); }),
            "bleu_from_counts: order 1: 2 matches of 1 n-grams");
  EXPECT_EQ(refusal([&] { parse_bleu_smoothing("some"); }),
            "parse_bleu_smoothing: 'some' is none of none, floor, add-k, exp");
}

}  // namespace
}  // namespace heed
