#include "heed/tasks/bench/bench_report.h"

#include <gtest/gtest.h>

#include "heed/tasks/bench/bench_comparison.h"
#include "heed/tasks/bench/bench_text.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

BenchReport sample_report() {
  BenchReport report;
  report.benchmark = "attention", report.version = "0.1.0", report.processor = "Z80", report.target = "SCALAR";
  report.threads = 2;
  report.limits.push_back({.name = "limit/exp", .rate = 31.25, .unit = "G/s"});
  report.rows.push_back({.name = "forward/L512/D64", .plan = "tiled", .seconds = 0.002, .samples = 500});
  report.rows.back().share_of_limit = 0.5;
  report.rows.push_back({.name = "causal/L512/D64", .plan = "tiled", .seconds = 0.001, .samples = 900});
  report.rows.push_back({.name = "linear/forward", .refused = "HEED_PLAN=tiled cannot"});
  return report;
}

TEST(BenchReport, ReadsBackAsItWasWritten) {
  const BenchReport report = sample_report();
  const std::string text = bench_report_text(report);
  EXPECT_EQ(parse_bench_report(text), report);
  EXPECT_EQ(bench_report_text(parse_bench_report(text)), text);
}

TEST(BenchReport, WhatIsCutShortOrOfSomethingElseIsRefused) {
  const std::string text = bench_report_text(sample_report());
  const auto reading = [](const std::string& given) { return [given] { parse_bench_report(given, "b.json"); }; };
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 2}) {
    const std::string said = refusal(reading(text.substr(0, bytes)));
    EXPECT_TRUE(said.starts_with("b.json")) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  for (const char* other : {"[]", "7", "{}", R"({"model": "transformer"})"}) {
    EXPECT_EQ(refusal(reading(other)), "b.json: is no report of heed bench");
  }
}

TEST(BenchReport, NumbersThatNoBenchmarkGivesAreRefused) {
  const auto written = [](const auto& change) {
    BenchReport report = sample_report();
    change(report);
    const std::string text = bench_report_text(report);
    return refusal([&] { parse_bench_report(text, "b.json"); });
  };
  EXPECT_NE(written([](BenchReport& report) { report.format = 2; }).find("heed_bench must be"), std::string::npos);
  EXPECT_NE(written([](BenchReport& report) { report.threads = 0; }).find("threads must be"), std::string::npos);
  EXPECT_NE(written([](BenchReport& report) { report.limits[0].rate = -1; }).find("limits[0]: rate must be"),
            std::string::npos);
  EXPECT_NE(written([](BenchReport& report) { report.rows[1].seconds = -1; }).find("rows[1]: seconds must be"),
            std::string::npos);
  EXPECT_NE(written([](BenchReport& report) { report.rows[1].name.clear(); }).find("rows[1]: name must have"),
            std::string::npos);
  EXPECT_NE(written([](BenchReport& report) { report.limits[0].name.assign(100'000, 'x'); }).find("name must have"),
            std::string::npos);
  EXPECT_NE(written([](BenchReport& report) { report.rows[1].seconds = 0; }).find("rows[1]: must have either"),
            std::string::npos);
  EXPECT_NE(written([](BenchReport& report) { report.rows[2].seconds = 1; }).find("rows[2]: must have either"),
            std::string::npos);
}

TEST(BenchComparison, SpeedIsTheTimeBeforeOverTheTimeAfter) {
  const BenchReport before = sample_report();
  BenchReport after = before;
  after.limits[0].rate *= 2;
  after.rows[0].seconds /= 4, after.rows[0].share_of_limit *= 4;
  const BenchComparison comparison = compare_bench_reports(before, after);
  ASSERT_EQ(comparison.limits.size(), 1u);
  EXPECT_EQ(comparison.limits[0].speed, 2);
  ASSERT_EQ(comparison.rows.size(), 2u);  // but not the one that was refused
  EXPECT_EQ(comparison.rows[0].speed, 4);
  EXPECT_EQ(comparison.rows[0].limit_before, 0.5);
  EXPECT_EQ(comparison.rows[0].limit_after, 2);
  EXPECT_EQ(comparison.rows[1].speed, 1);
  EXPECT_DOUBLE_EQ(comparison.mean_speed(), 2);
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_TRUE(comparison.only_before.empty());
  EXPECT_TRUE(comparison.only_after.empty());
}

TEST(BenchComparison, WhatOneSideLacksAndWhatDiffersIsSaid) {
  const BenchReport before = sample_report();
  BenchReport after = before;
  after.threads = 4;
  after.limits.clear();
  after.rows[1].seconds = 0, after.rows[1].refused = "no";
  after.rows[2].seconds = 1, after.rows[2].refused.clear();
  const BenchComparison comparison = compare_bench_reports(before, after);
  EXPECT_EQ(comparison.only_before, (std::vector<std::string>{"limit/exp", "causal/L512/D64"}));
  EXPECT_EQ(comparison.only_after, (std::vector<std::string>{"linear/forward"}));
  EXPECT_EQ(comparison.differences, (std::vector<std::string>{"threads: 2 before, 4 after"}));
}

TEST(BenchComparison, TheFilterChoosesOfBoth) {
  const BenchReport report = sample_report();
  const BenchComparison comparison = compare_bench_reports(report, report, BenchFilter("^causal"));
  EXPECT_TRUE(comparison.limits.empty());
  ASSERT_EQ(comparison.rows.size(), 1u);
  EXPECT_EQ(comparison.rows[0].name, "causal/L512/D64");
  EXPECT_NE(refusal([&] { compare_bench_reports(report, report, BenchFilter("^linear")); }).find("nothing in common"),
            std::string::npos);
}

TEST(BenchComparison, TwoBenchmarksAreNotCompared) {
  BenchReport other = sample_report();
  other.benchmark = "training";
  EXPECT_NE(refusal([&] { compare_bench_reports(sample_report(), other); }).find("attention before, training after"),
            std::string::npos);
}

TEST(BenchText, NamesOfAFileCannotSteerATerminal) {
  BenchReport report = sample_report();
  const std::string hostile = "n\x1B[31m\nx";
  report.processor = report.target = report.version = report.benchmark = report.forced_plan = hostile;
  report.limits[0].name = report.limits[0].unit = report.limits[0].note = hostile;
  for (BenchRow& row : report.rows) row.name += hostile, row.plan = row.unit = row.over = hostile, row.rate = 1;
  report.rows[2].refused = hostile;
  BenchReport other = report;
  other.limits.clear();
  other.rows[1].name = other.forced_plan = "y" + hostile;
  for (const std::string& text : {bench_text(report), bench_comparison_text(compare_bench_reports(report, other))}) {
    EXPECT_EQ(text.find('\x1B'), std::string::npos) << text;
    EXPECT_EQ(text.find("\nx"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace heed
