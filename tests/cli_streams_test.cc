// What the programs do where standard input, output or error is not there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandOptions;
using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::run_heed;
using testing::run_program;
using testing::scratch_folder;
using testing::tiny_corpus;
using testing::tiny_model;

CommandResult translate_stream(const CommandOptions& options) {
  return run_heed({"translate", tiny_model().string(), "--beam", "1"}, options);
}

TEST(CliStreams, ResultsThatNobodyCanGetAreAnError) {
  for (const std::vector<int>& closed : {std::vector{STDOUT_FILENO}, std::vector{STDIN_FILENO, STDOUT_FILENO}}) {
    expect_refusal(run_heed({"info"}, {.closed = closed}), kFailure, {"standard output", "Bad file descriptor"});
    expect_refusal(run_heed({"explain"}, {.closed = closed}), kFailure, {"standard output"});
    expect_refusal(run_heed({"--version"}, {.closed = closed}), kFailure, {"standard output"});
  }
  expect_refusal(translate_stream({.input = "Ja.\n", .closed = {STDOUT_FILENO}}), kFailure, {"standard output"});
  const CommandResult silent = run_heed({"info"}, {.closed = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}});
  EXPECT_EQ(silent.exit_code, kFailure);
  const CommandResult conformance = run_program(HEED_CONFORMANCE, {"--help"}, {.closed = {STDOUT_FILENO}});
  EXPECT_EQ(conformance.exit_code, kFailure);
  EXPECT_NE(conformance.error.find("standard output"), std::string::npos) << conformance.error;
}

TEST(CliStreams, WhatIsPrintedNeverLandsInAFile) {
  const auto corpus = [](const char* name) { return (tiny_corpus() / name).string(); };
  for (const std::vector<int>& closed :
       {std::vector{STDERR_FILENO}, std::vector{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}}) {
    const std::filesystem::path model = scratch_folder() / "model";
    run_heed({"train",
              "--source",
              corpus("train.de"),
              "--target",
              corpus("train.en"),
              "--valid-source",
              corpus("valid.de"),
              "--valid-target",
              corpus("valid.en"),
              "--out",
              model.string(),
              "--width",
              "16",
              "--ffn-width",
              "16",
              "--heads",
              "2",
              "--encoder-layers",
              "1",
              "--decoder-layers",
              "1",
              "--vocabulary-size",
              "100",
              "--batch-tokens",
              "600",
              "--max-updates",
              "2",
              "--validate-every",
              "1"},
             {.closed = closed});
    EXPECT_EQ(read_file(model / "training" / "lock"), "");
    const std::vector<std::string> lines = read_text_lines(model / "metrics.jsonl");
    EXPECT_GE(lines.size(), 2u);
    for (const std::string& line : lines) EXPECT_TRUE(Json::parse(line).has("update")) << line;
  }
}

TEST(CliStreams, AFileMayBeStandardOutput) {
  if (!std::filesystem::exists("/dev/stdout")) GTEST_SKIP() << "no /dev/stdout";
  const CommandResult result =
      run_heed({"view", tiny_model().string(), "--text", "Ja.", "--beam", "1", "--trace", "/dev/stdout"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(result.output.starts_with("{")) << result.output;
  EXPECT_NE(result.output.find("\n}\n"), std::string::npos) << result.output;
  EXPECT_TRUE(std::filesystem::is_symlink("/dev/stdout"));
}

}  // namespace
}  // namespace heed
