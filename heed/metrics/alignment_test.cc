#include "heed/metrics/alignment.h"

#include <gtest/gtest.h>

#include "heed/base/text_lines.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;
using Lines = std::vector<std::string>;

TEST(Alignment, ErrorRateAsOchAndNeyDefineIt) {
  const Lines links = {"0-0 1-1 2-2", "0-1"};
  const Lines gold = {"0-0 1p1 3-3", "0-0"};
  const AlignmentScore score = score_alignments(parse_alignments(links), parse_gold_alignments(gold));
  EXPECT_EQ(score.links, 4);
  EXPECT_EQ(score.sure, 3);
  EXPECT_EQ(score.in_sure, 1);
  EXPECT_EQ(score.in_possible, 2);
  EXPECT_DOUBLE_EQ(score.precision, 2.0 / 4);
  EXPECT_DOUBLE_EQ(score.recall, 1.0 / 3);
  EXPECT_DOUBLE_EQ(score.f1, 0.4);
  EXPECT_DOUBLE_EQ(score.error_rate, 1 - 3.0 / 7);
  EXPECT_EQ(score.summary(), "AER = 57.14 (precision = 50.00 recall = 33.33 f1 = 40.00 links = 4)");
}

TEST(Alignment, PossibleLinksAreNoErrorWhetherFoundOrNot) {
  const std::vector<GoldAlignment> gold = parse_gold_alignments(Lines{"0-0 1p1"});
  EXPECT_EQ(score_alignments(parse_alignments(Lines{"0-0"}), gold).error_rate, 0);
  EXPECT_EQ(score_alignments(parse_alignments(Lines{"0-0 1-1"}), gold).error_rate, 0);
}

TEST(Alignment, NothingAgainstNothingIsNoError) {
  const AlignmentScore score = score_alignments(parse_alignments(Lines{""}), parse_gold_alignments(Lines{" "}));
  EXPECT_EQ(score.error_rate, 0);
  EXPECT_EQ(score.precision, 0);
  EXPECT_EQ(score.f1, 0);
}

TEST(Alignment, LinksAreSortedAndCountOnce) {
  const std::vector<AlignmentLinks> links = parse_alignments(Lines{"  2-0 0-1\t0-1 "});
  EXPECT_EQ(links[0], (AlignmentLinks{{0, 1}, {2, 0}}));
  EXPECT_EQ(format_alignment(links[0]), "0-1 2-0");
  const AlignmentLinks twice = {{1, 1}, {0, 0}, {1, 1}};
  const std::vector<AlignmentLinks> alignments = {twice};
  EXPECT_EQ(score_alignments(alignments, parse_gold_alignments(Lines{"1-1"})).links, 2);
}

TEST(Alignment, ALinkBothSureAndPossibleIsSure) {
  const GoldAlignment gold = parse_gold_alignments(Lines{"0p0 0-0 1p2"})[0];
  EXPECT_EQ(gold.sure, (AlignmentLinks{{0, 0}}));
  EXPECT_EQ(gold.possible, (AlignmentLinks{{0, 0}, {1, 2}}));
}

TEST(Alignment, OneBasedLinksBecomeZeroBased) {
  EXPECT_EQ(parse_alignments(Lines{"1-3"}, {.one_based = true})[0], (AlignmentLinks{{0, 2}}));
  EXPECT_EQ(refusal([] {
              parse_gold_alignments(Lines{"1-1", "0p1"}, {.name = "gold", .one_based = true});
            }),
            "gold:2: words count from 1, but a link is '0p1'");
}

TEST(Alignment, WhatIsNoLinkIsNamedWithItsLine) {
  for (const char* bad : {"1", "1-", "-1", "1--2", "-1-2", "1-2-3", "a-b", "1 - 2", "1:2", "+1-2", "1-2x",
                          "99999999999-1", "1-2147483648", "999999999999999999999999-1", "1s2"}) {
    const std::string error = refusal([&] { parse_gold_alignments(Lines{"0-0", bad}, {.name = "file"}); });
    EXPECT_EQ(error.rfind("file:2: a link must read i-j or ipj, but is '", 0), 0u) << bad << ": " << error;
  }
  EXPECT_EQ(refusal([] { parse_alignments(Lines{"0p0"}, {.name = "a"}); }), "a:1: only gold has possible links ('p')");
}

TEST(Alignment, WhatIsNoLinkIsShownSoThatItSteersNoTerminal) {
  EXPECT_EQ(refusal([] { parse_alignments(Lines{"1-\x1B[2J"}, {.name = "f"}); }),
            "f:1: a link must read i-j or ipj, but is '1-\\x1b[2J'");
  const std::string zeros(100, '0');
  EXPECT_EQ(refusal([&] { parse_alignments(Lines{zeros + "-1"}, {.name = "f", .one_based = true}); }),
            "f:1: words count from 1, but a link is '" + zeros.substr(0, 40) + "...'");
}

TEST(Alignment, DifferentNumbersOfSentencePairsAreRefused) {
  EXPECT_EQ(refusal([] { score_alignments(parse_alignments(Lines{"0-0"}), {}); }),
            "score_alignments: 1 alignments, but gold for 0 sentence pairs");
}

// The figures of awesome-align's authors for the output they publish (Dou & Neubig 2021).
TEST(Alignment, AwesomeAlignErrorRates) {
  HEED_DATA_OR_SKIP(folder, "alignment/awesome_align");
  for (const auto& [pair, expected] : {std::pair("enfr", 4.07), std::pair("jaen", 37.36)}) {
    const std::string output = std::string(pair) + ".awesome-align.out";
    const std::string gold = std::string(pair) + ".gold";
    const AlignmentScore score =
        score_alignments(parse_alignments(read_text_lines(folder / output), {.name = output}),
                         parse_gold_alignments(read_text_lines(folder / gold), {.name = gold, .one_based = true}));
    EXPECT_NEAR(100 * score.error_rate, expected, 0.005) << score.summary();
  }
}

// Gold of another project: counts from 0, after a number and a tab; read here without them.
TEST(Alignment, SimAlignGoldAgreesWithItself) {
  HEED_DATA_OR_SKIP(path, "alignment/simalign_sample/sample_eng_deu.gold");
  Lines lines = read_text_lines(path);
  ASSERT_EQ(lines.size(), 5u);
  for (std::string& line : lines) line.erase(0, line.find('\t') + 1);
  const std::vector<GoldAlignment> gold = parse_gold_alignments(lines);
  std::vector<AlignmentLinks> sure, possible;
  for (const GoldAlignment& pair : gold) {
    sure.push_back(pair.sure);
    possible.push_back(pair.possible);
  }
  EXPECT_EQ(score_alignments(sure, gold).error_rate, 0);
  EXPECT_EQ(score_alignments(possible, gold).error_rate, 0);
  EXPECT_LT(score_alignments(sure, gold).links, score_alignments(possible, gold).links);
}

}  // namespace
}  // namespace heed
