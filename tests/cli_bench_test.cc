// heed bench: what it measures, writes and compares. Nothing is said about how fast anything is.
#include <gtest/gtest.h>

#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/tasks/bench/bench_report.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;

// A file of a report with one limit and these rows' milliseconds.
std::string report_file(const std::filesystem::path& path, double first, double second) {
  BenchReport report;
  report.benchmark = "attention", report.version = "0.1.0", report.processor = "Z80", report.target = "SCALAR";
  report.limits.push_back({.name = "limit/exp", .rate = 2, .unit = "G/s"});
  report.rows.push_back({.name = "forward/L512/D64", .plan = "tiled", .seconds = first / 1e3, .samples = 5});
  report.rows.push_back({.name = "causal/L512/D64", .plan = "tiled", .seconds = second / 1e3, .samples = 5});
  report.rows.back().fastest = second / 2e3, report.rows.back().share_of_peak = 0.25;
  write_file(path, bench_report_text(report));
  return path.string();
}

// The line that begins with this name, its spaces made single; empty where there is none.
std::string line_of(const std::string& text, const std::string& name) {
  for (const std::string& line : split_text_lines(text, "output")) {
    if (!line.starts_with(name + " ")) continue;
    std::string single;
    for (char c : line) {
      if (c != ' ' || single.back() != ' ') single += c;
    }
    return single;
  }
  return {};
}

TEST(CliBench, WhatIsPrintedIsInTheFile) {
  const std::filesystem::path file = scratch_folder() / "report.json";
  const std::string text = output_of({"bench", "attention", "--filter", "^short/(forward|causal)$", "--seconds",
                                      "0.001", "--threads", "1", "--json", file.string()});
  const BenchReport report = read_bench_report(file);
  EXPECT_EQ(report.benchmark, "attention");
  EXPECT_EQ(report.threads, 1);
  EXPECT_EQ(report.seconds, 0.001);
  std::vector<std::string> names;
  for (const BenchLimit& limit : report.limits) names.push_back(limit.name);
  for (const BenchRow& row : report.rows) names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"limit/multiply-add-f32", "limit/exp", "short/forward", "short/causal"}));
  for (const std::string& name : names) EXPECT_NE(line_of(text, name), "") << name << " is not in\n" << text;
  EXPECT_NE(text.find(report.target + ", 1 thread,"), std::string::npos) << text;
  EXPECT_EQ(line_of(text, "short/training"), "");
}

TEST(CliBench, AReportThatIsPrintedStandsAlone) {
  const CommandResult result =
      run_heed({"bench", "attention", "--filter", "^short/forward$", "--seconds", "0.001", "--json", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  const std::filesystem::path file = scratch_folder() / "printed.json";
  write_file(file, result.output);
  EXPECT_EQ(read_bench_report(file).rows.front().name, "short/forward");
  EXPECT_NE(line_of(result.error, "short/forward"), "") << "the table is beside it";
  EXPECT_FALSE(file_exists("-"));
}

TEST(CliBench, ATokenOfAModelIsHeldAgainstReadingMemory) {
  EXPECT_EQ(output_of({"bench", "generation", "--list", "--filter", "110m/int8"}),
            "token/llama-110m/int8\ntoken/llama-110m/int8/cache-int8\nprompt/llama-110m/int8\n");
  // For each of 512 tokens, 12 layers and 12 heads a key and a value of 64 numbers: of f32, or of int8 with a scale.
  constexpr double kRows = 512.0 * 12 * 12 * 2;
  const std::filesystem::path file = scratch_folder() / "report.json";
  // To standard error it may write how far it is, where the machine is slow or busy.
  const CommandResult result = run_heed(
      {"bench", "generation", "--filter", "^token/llama-110m/int8", "--seconds", "0.001", "--json", file.string()});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const BenchReport report = read_bench_report(file);
  EXPECT_EQ(report.benchmark, "generation");
  ASSERT_EQ(report.rows.size(), 2u);
  const std::pair<const char*, int> kept[] = {{"token/llama-110m/int8", 64 * 4},
                                              {"token/llama-110m/int8/cache-int8", 68}};
  for (std::size_t n = 0; n < 2; ++n) {
    const auto [name, bytes] = kept[n];
    const BenchRow& row = report.rows[n];
    EXPECT_EQ(row.name, name);
    EXPECT_NE(line_of(result.output, row.name), "") << result.output;
    EXPECT_EQ(row.peak, "limit/dram-read");
    EXPECT_GT(row.bytes, 109e6 + kRows * bytes);  // 110 million weights of a byte each
    EXPECT_LT(row.bytes, 112e6 + kRows * bytes);
    EXPECT_DOUBLE_EQ(row.rate, row.bytes / row.seconds / 1e9);
  }
}

TEST(CliBench, TheListHasTheNamesThatTheFilterWants) {
  EXPECT_EQ(output_of({"bench", "--list", "--filter", "^decode"}), "decode/f32\ndecode/bf16\ndecode/int8\n");
  const std::string all = output_of({"bench", "attention", "--list"});
  for (const char* name : {"limit/dram-read", "bf16-forward/L512/D64", "over-plain/alibi"}) {
    EXPECT_NE(all.find(std::string(name) + "\n"), std::string::npos) << name;
  }
}

TEST(CliBench, TwoFilesAreCompared) {
  const std::filesystem::path folder = scratch_folder();
  const std::string before = report_file(folder / "before.json", 8, 3),
                    after = report_file(folder / "after.json", 2, 6);
  const std::string text = output_of({"bench", after, "--compare", before});
  EXPECT_EQ(line_of(text, "limit/exp"), "limit/exp 2.000 G/s 2.000 G/s 1.000");
  EXPECT_EQ(line_of(text, "forward/L512/D64"), "forward/L512/D64 8.000 ms 2.000 ms 4.000");
  EXPECT_EQ(line_of(text, "causal/L512/D64"), "causal/L512/D64 3.000 ms 6.000 ms 0.500");
  EXPECT_NE(text.find("geometric mean of 2 rows: 1.414"), std::string::npos) << text;
  EXPECT_EQ(output_of({"bench", "--compare", before, after}), text);
  const std::string chosen = output_of({"bench", after, "--compare", before, "--filter", "causal"});
  EXPECT_NE(line_of(chosen, "causal/L512/D64"), "");
  EXPECT_EQ(line_of(chosen, "forward/L512/D64"), "");
}

TEST(CliBench, AMeasurementIsComparedWithAFile) {
  const std::filesystem::path file = scratch_folder() / "before.json";
  const std::vector<std::string> measure{"bench", "attention", "--filter", "^short/forward$", "--seconds", "0.001"};
  const auto with = [&](const char* option) {
    std::vector<std::string> arguments = measure;
    arguments.insert(arguments.end(), {option, file.string()});
    return output_of(arguments);
  };
  with("--json");
  EXPECT_NE(with("--compare").find("geometric mean of 1 rows"), std::string::npos);
}

TEST(CliBench, AReportIsShownAgain) {
  const std::string file = report_file(scratch_folder() / "report.json", 8, 3);
  const std::string text = output_of({"bench", file});
  EXPECT_NE(text.find("Z80, SCALAR, 1 thread"), std::string::npos) << text;
  EXPECT_EQ(line_of(text, "causal/L512/D64"), "causal/L512/D64 3.000 ms 5 - 25.0 % 50.0 % - tiled");
  EXPECT_EQ(line_of(output_of({"bench", file, "--filter", "^forward"}), "causal/L512/D64"), "");
}

TEST(CliBench, AFileThatIsNoReportIsOneLine) {
  const std::filesystem::path folder = scratch_folder();
  const std::string sound = report_file(folder / "sound.json", 8, 3), text = read_file(sound);
  const std::string broken = (folder / "broken.json").string();
  for (const std::string& contents : {text.substr(0, text.size() / 2), std::string("{}"), std::string("{\"rows\": []}"),
                                      std::string("not JSON"), std::string()}) {
    write_file(broken, contents);
    expect_refusal(run_heed({"bench", sound, "--compare", broken}), kFailure, {broken});
    expect_refusal(run_heed({"bench", broken, "--compare", sound}), kFailure, {broken});
    // Before anything is measured.
    const CommandResult measured = run_heed({"bench", "attention", "--compare", broken});
    expect_refusal(measured, kFailure, {broken});
    EXPECT_EQ(measured.output, "");
  }
  expect_refusal(run_heed({"bench", sound, "--compare", (folder / "none.json").string()}), kFailure, {"none.json"});
  expect_refusal(run_heed({"bench", (folder / "none.json").string()}), kFailure, {"none.json"});
}

TEST(CliBench, WhatCannotBeMeantIsWrongUsage) {
  const std::string file = report_file(scratch_folder() / "report.json", 8, 3);
  expect_refusal(run_heed({"bench", "--filter", "("}), kWrongUsage,
                 {"--filter: not a filter: the regular expression '(' "});
  expect_refusal(run_heed({"bench", "--filter", "no such row"}), kWrongUsage, {"--filter", "heed bench --list"});
  expect_refusal(run_heed({"bench", "--list", "--filter", "no such row"}), kWrongUsage, {"--filter"});
  expect_refusal(run_heed({"bench", "--seconds", "0"}), kWrongUsage, {"--seconds: must be a number above 0"});
  expect_refusal(run_heed({"bench", "--seconds", "nan"}), kWrongUsage, {"--seconds"});
  expect_refusal(run_heed({"bench", "attention", "more"}), kWrongUsage, {"more is one argument more"});
  expect_refusal(run_heed({"bench", "--thread", "2"}), kWrongUsage, {"did you mean --threads?"});
  for (const std::vector<std::string>& option :
       std::vector<std::vector<std::string>>{{"--seconds", "1"}, {"--json", "x.json"}, {"--list"}}) {
    std::vector<std::string> arguments{"bench", file};
    arguments.insert(arguments.end(), option.begin(), option.end());
    expect_refusal(run_heed(arguments), kWrongUsage, {option.front(), "attention"});
  }
  expect_refusal(run_heed({"bench", "--compare", file, "--json", file}), kWrongUsage, {"--json", "--compare"});
  expect_refusal(run_heed({"bench", "--compare", file, "--json", "-"}), kWrongUsage, {"--json", "--compare"});
}

TEST(CliBench, AFileThatCannotBeWrittenIsKnownBeforeAnythingIsMeasured) {
  const std::string file = (scratch_folder() / "no folder" / "report.json").string();
  const CommandResult result = run_heed({"bench", "--json", file});
  expect_refusal(result, kFailure, {file});
  EXPECT_EQ(result.output, "");
}

TEST(CliBench, AForcedPlanOrTargetThatIsNotThereIsNamed) {
  const std::vector<std::string> measure{"bench", "--filter", "^short/forward$", "--seconds", "0.001"};
  expect_refusal(run_heed(measure, {.environment = {"HEED_PLAN=magic"}}), kFailure, {"HEED_PLAN", "magic"});
  expect_refusal(run_heed(measure, {.environment = {"HEED_TARGET=Z80"}}), kFailure, {"HEED_TARGET", "Z80"});
  const std::string text = output_of(measure, {.environment = {"HEED_TARGET=SCALAR"}});
  EXPECT_NE(text.find("HEED_TARGET=SCALAR\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace heed
