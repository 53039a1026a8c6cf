// heed align.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/corpus/corpus.h"
#include "heed/io/json.h"
#include "heed/metrics/alignment.h"
#include "heed/tasks/symmetrise.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::corpus_file;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_language_model;
using testing::tiny_model;
using Arguments = std::vector<std::string>;

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Arguments aligning(const Arguments& more = {}) {
  return with({"align", tiny_model().string(), "--source", corpus_file("test.de"), "--target", corpus_file("test.en")},
              more);
}

Arguments valid() {
  return {"--valid-source",        corpus_file("valid.de"), "--valid-target",
          corpus_file("valid.en"), "--valid-gold",          corpus_file("valid.align")};
}

std::vector<AlignmentLinks> links_of(const Arguments& more) {
  return parse_alignments(split_text_lines(output_of(aligning(more)), "output"));
}

TEST(CliAlign, LinksEveryTargetWordOfEveryPairOnce) {
  const std::vector<AlignmentLinks> links = links_of({});
  const std::vector<std::string> english = read_text_lines(corpus_file("test.en"));
  ASSERT_EQ(links.size(), english.size());
  for (std::size_t i = 0; i < links.size(); ++i) EXPECT_EQ(links[i].size(), alignment_tokens(english[i]).size());
  EXPECT_EQ(links_of({"--threads", "1"}), links);
  EXPECT_EQ(links_of({"--layer", "0", "--head", "mean", "--step", "produces", "--threshold", "0"}), links);
  EXPECT_EQ(links_of({"--head", "0,0:1"}), links);
  EXPECT_NE(links_of({"--head", "1"}), links);
  const std::vector<AlignmentLinks> free = links_of({"--free", "0"});
  for (std::size_t i = 0; i < links.size(); ++i) EXPECT_TRUE(std::ranges::includes(free[i], links[i]));
  EXPECT_NE(free, links);
}

TEST(CliAlign, WeightsAreThoseThatLinksComeFrom) {
  const std::vector<std::string> lines = split_text_lines(output_of(aligning({"--format", "json"})), "output");
  const std::vector<AlignmentLinks> links = links_of({}), above = links_of({"--threshold", "0.2"});
  ASSERT_EQ(lines.size(), links.size());
  std::string tsv, most;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json json = Json::parse(lines[i]);
    ASSERT_EQ(json["line"].integer(), static_cast<Index>(i) + 1);
    ASSERT_EQ(json["weights"].size(), json["target"].size());
    AlignmentLinks argmax, heavy;
    for (Index t = 0; t < json["weights"].size(); ++t) {
      const std::vector<double> row = json["weights"][t].number_list();
      ASSERT_EQ(std::ssize(row), json["source"].size());
      argmax.push_back({std::ranges::max_element(row) - row.begin(), t});
      for (Index s = 0; s < std::ssize(row); ++s) {
        if (row[static_cast<std::size_t>(s)] >= 0.2) heavy.push_back({s, t});
      }
    }
    std::ranges::sort(argmax), std::ranges::sort(heavy);
    EXPECT_EQ(argmax, links[i]);
    EXPECT_EQ(heavy, above[i]);
    for (const AlignmentLink& link : heavy) {
      tsv += fmt::format("{}\t{}\t{}\t{:.6f}\n", i + 1, link.source, link.target,
                         json["weights"][link.target][link.source].number());
    }
  }
  EXPECT_EQ(output_of(aligning({"--format", "tsv", "--threshold", "0.2"})), tsv);
}

TEST(CliAlign, WhatAlignsBestIsChosenOnOtherText) {
  const std::string links = (scratch_folder() / "links").string();
  const Arguments arguments = with(aligning({"--gold", corpus_file("test.align"), "--out", links}), valid());
  const std::string text = output_of(arguments);
  EXPECT_TRUE(text.starts_with("chosen on " + corpus_file("valid.align"))) << text;
  // What it wrote has the score that it printed.
  const std::string score = output_of({"evaluate", "--alignment", links, "--gold", corpus_file("test.align")});
  EXPECT_NE(text.find(score), std::string::npos) << text << score;

  const Json read = Json::parse(output_of(with(arguments, {"--json"})))["read"][Index{0}];
  double least = 100, chosen = 100;
  for (const Json& candidate : read["candidates"].items()) {
    least = std::min(least, candidate["score"].number());
    if (candidate["heads"] == read["heads"] && candidate["step"] == read["step"]) chosen = candidate["score"].number();
  }
  EXPECT_EQ(chosen, least);
}

TEST(CliAlign, TwoDirectionsBecomeOneAlignment) {
  const Arguments backward = {"align",    tiny_model().string(), "--source", corpus_file("test.en"),
                              "--target", corpus_file("test.de")};
  const std::vector<AlignmentLinks> forward = links_of({});
  const std::vector<AlignmentLinks> other = parse_alignments(split_text_lines(output_of(backward), "output"));
  for (const auto& [name, how] : kSymmetrisationNames) {
    const std::vector<AlignmentLinks> links =
        links_of({"--reverse", tiny_model().string(), "--symmetrise", std::string(name)});
    ASSERT_EQ(links.size(), forward.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
      EXPECT_EQ(links[i], symmetrise(forward[i], transpose(other[i]), how)) << name;
    }
  }
  const Arguments agreeing = {"--reverse", tiny_model().string(), "--symmetrise", "agreement"};
  EXPECT_NE(links_of(agreeing), forward);
  const std::string agreed = output_of(with(with(aligning({"--gold", corpus_file("test.align")}), agreeing), valid()));
  EXPECT_NE(agreed.find("their agreement"), std::string::npos) << agreed;
  const Json json =
      Json::parse(output_of(with(with(aligning({"--gold", corpus_file("test.align"), "--json"}), agreeing), valid())));
  EXPECT_EQ(json["read"].items().size(), 2u);
  EXPECT_GE(json["agreement"]["threshold"].number(), 0);
  EXPECT_EQ(fmt::format("{:.2f}", json["agreement"]["score"].number()),
            agreed.substr(agreed.find("AER = ", agreed.find("their agreement")) + 6, 5));
  const std::string text =
      output_of(with(aligning({"--gold", corpus_file("test.align"), "--reverse", tiny_model().string()}), valid()));
  EXPECT_EQ(split_text_lines(text, "output").size(), 3u) << text;  // what is read of each, and the score
}

TEST(CliAlign, GoldAloneIsScored) {
  const std::string text = output_of(aligning({"--gold", corpus_file("test.align")}));
  EXPECT_TRUE(text.starts_with("heads 0:0, 0:1 (layer:head), the step that produces\n")) << text;
  EXPECT_NE(text.find("AER = "), std::string::npos);
}

TEST(CliAlign, AFailureLeavesWhatWasThere) {
  const auto folder = scratch_folder();
  const auto file = [&](const char* name) { return (folder / name).string(); };
  std::string source, target;
  for (int i = 0; i < 600; ++i) source += "Ja.\n", target += "Yes.\n";
  for (int i = 0; i < 200; ++i) source += "Ja ";  // line 601 has more than the 99 tokens that the model can hold
  write_file(file("source"), source + "\n");
  write_file(file("target"), target + "Yes.\n");
  write_file(file("links"), "as it was\n");
  const Arguments arguments = {"align", tiny_model().string(), "--source", file("source"), "--target", file("target")};
  expect_refusal(run_heed(with(arguments, {"--out", file("links")})), kFailure, {file("source") + ":601: "});
  EXPECT_EQ(read_file(file("links")), "as it was\n");
  EXPECT_EQ(run_heed(arguments).output, "");
}

TEST(CliAlign, WhatDoesNotGoTogetherIsNamed) {
  expect_refusal(run_heed(aligning({"--layer", "1"})), kFailure, {"--layer", "0 to 0"});
  expect_refusal(run_heed(aligning({"--head", "0,7"})), kFailure, {"head 7"});
  expect_refusal(run_heed(aligning({"--head", "0,"})), kWrongUsage, {"--head"});
  expect_refusal(run_heed(aligning({"--head", "0,0:0"})), kWrongUsage, {"--head", "head 0 of layer 0 twice"});
  expect_refusal(run_heed(aligning({"--threshold", "0.2", "--free", "0.1"})), kWrongUsage, {"--free"});
  expect_refusal(run_heed(aligning({"--threshold", "2"})), kWrongUsage, {"--threshold"});
  expect_refusal(run_heed(aligning({"--symmetrise", "union"})), kWrongUsage, {"--reverse"});
  expect_refusal(run_heed(aligning({"--valid-gold", "x"})), kWrongUsage, {"--valid-source"});
  expect_refusal(run_heed(with(aligning({"--head", "1"}), valid())), kWrongUsage, {"--head"});
  expect_refusal(run_heed(aligning({"--json"})), kWrongUsage, {"--gold"});
  expect_refusal(run_heed({"align", tiny_language_model().string(), "--source", corpus_file("test.de"), "--target",
                           corpus_file("test.en")}),
                 kFailure, {"aligns no words: it continues text"});
  expect_refusal(run_heed({"align", tiny_model().string(), "--source", corpus_file("test.de"), "--target",
                           corpus_file("train.en")}),
                 kFailure, {corpus_file("test.de") + " has 10 lines", corpus_file("train.en")});
}

}  // namespace
}  // namespace heed
