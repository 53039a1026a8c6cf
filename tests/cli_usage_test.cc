// How the command-line program is called: help, version, exit codes.
#include <gtest/gtest.h>

#include "command.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::expect_refusal;
using testing::Output;
using testing::run_heed;

constexpr int kFailure = 1, kWrongUsage = 2;
const std::vector<std::string> kCommands = {"corpus", "train", "translate", "evaluate", "view", "explain", "info"};

TEST(CliUsage, EveryCommandsHelpHasAnExample) {
  for (const std::string& command : kCommands) {
    const CommandResult result = run_heed({command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_NE(result.output.find("Example"), std::string::npos) << command;
    EXPECT_NE(result.output.find("heed " + command), std::string::npos) << command;
    EXPECT_EQ(result.error, "") << command;
  }
}

TEST(CliUsage, HelpListsEveryCommand) {
  const CommandResult result = run_heed({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const std::string& command : kCommands) {
    EXPECT_NE(result.output.find("\n  " + command + " "), std::string::npos) << command;
  }
}

TEST(CliUsage, TheVersionIsPrinted) {
  const CommandResult result = run_heed({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.output.starts_with("heed ")) << result.output;
  EXPECT_EQ(result.error, "");
}

TEST(CliUsage, HelpAndVersionNoticeAFullDisk) {
  expect_refusal(run_heed({"--version"}, {.output = Output::full}), kFailure, {"standard output", "No space left"});
  expect_refusal(run_heed({"view", "--help"}, {.output = Output::full}), kFailure, {"standard output"});
}

TEST(CliUsage, WrongUsageIsOneLineAndCodeTwo) {
  expect_refusal(run_heed({}), kWrongUsage, {"subcommand"});
  expect_refusal(run_heed({"fly"}), kWrongUsage, {"fly"});
  expect_refusal(run_heed({"corpus"}), kWrongUsage, {"--out"});
  expect_refusal(run_heed({"translate"}), kWrongUsage, {"model"});
  expect_refusal(run_heed({"translate", "model", "--beem", "3"}), kWrongUsage, {"--beem"});
  expect_refusal(run_heed({"translate", "model", "--beam", "many"}), kWrongUsage, {"--beam", "many"});
  expect_refusal(run_heed({"translate", "model", "--chunk", "0"}), kWrongUsage, {"--chunk"});
  expect_refusal(run_heed({"info", "--threads", "0"}), kWrongUsage, {"--threads"});
  expect_refusal(run_heed({"info", "--threads", "two"}), kWrongUsage, {"--threads"});
  expect_refusal(run_heed({"explain", "--digits", "99"}), kWrongUsage, {"--digits"});
}

TEST(CliUsage, TrainRefusesUnknownOptionsAndValues) {
  const std::vector<std::string> files = {"train", "--source",       "a", "--target", "b", "--valid-source",
                                          "c",     "--valid-target", "d", "--out",    "e"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> arguments = files;
    arguments.insert(arguments.end(), more);
    return run_heed(arguments);
  };
  expect_refusal(with({"--witdh", "64"}), kWrongUsage, {"--witdh"});
  expect_refusal(with({"--width", "wide"}), kWrongUsage, {"--width", "wide"});
  expect_refusal(with({"--tokenizer", "letters"}), kWrongUsage, {"--tokenizer", "bpe", "letters"});
  expect_refusal(with({"--preset", "huge"}), kWrongUsage, {"--preset", "huge"});
  expect_refusal(with({"--model", "markov"}), kWrongUsage, {"--model", "markov"});
  expect_refusal(with({"--model", "luong", "--heads", "4"}), kWrongUsage, {"--heads"});
}

TEST(CliUsage, EvaluateSaysWhichOptionsBelongTogether) {
  expect_refusal(run_heed({"evaluate"}), kWrongUsage, {"--hypothesis", "--alignment", "--model"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "a"}), kWrongUsage, {"--reference"});
  expect_refusal(run_heed({"evaluate", "--alignment", "a"}), kWrongUsage, {"--gold"});
  expect_refusal(run_heed({"evaluate", "--model", "m", "--reference", "r"}), kWrongUsage, {"--source"});
  expect_refusal(run_heed({"evaluate", "--model", "m", "--source", "s", "--reference", "r", "--gold", "g"}),
                 kWrongUsage, {"--choose-on"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "a", "--reference", "b", "--metrics", "bleu,blue"}), kWrongUsage,
                 {"--metrics", "blue"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "a", "--model", "m"}), kWrongUsage, {"--hypothesis"});
}

TEST(CliUsage, ViewSaysWhichOptionsBelongTogether) {
  expect_refusal(run_heed({"view", "m", "--text", "a", "--out", "x.gif"}), kWrongUsage, {"--out", "x.gif", ".html"});
  expect_refusal(run_heed({"view", "m", "--text", "a"}), kWrongUsage, {"--out", "--trace"});
  expect_refusal(run_heed({"view", "m", "--out", "x.svg"}), kWrongUsage, {"--text", "--input"});
  expect_refusal(run_heed({"view", "--out", "x.svg"}), kWrongUsage, {"--from"});
  expect_refusal(run_heed({"view", "m", "--from", "t.json", "--out", "x.svg"}), kWrongUsage, {"--from"});
  expect_refusal(run_heed({"view", "--from", "t.json", "--text", "a", "--out", "x.svg"}), kWrongUsage, {"--text"});
  expect_refusal(run_heed({"view", "m", "--text", "a", "--head", "first", "--out", "x.svg"}), kWrongUsage, {"--head"});
  expect_refusal(run_heed({"view", "m", "--text", "a", "--head", "1", "--out", "x.html"}), kWrongUsage, {"--head"});
  expect_refusal(run_heed({"view", "m", "--input", "a", "--target", "b", "--out", "x.svg"}), kWrongUsage, {"--t"});
}

TEST(CliUsage, AForcedSimdTargetThatIsNotThereIsNamed) {
  expect_refusal(run_heed({"info"}, {.environment = {"HEED_TARGET=Z80"}}), kFailure, {"HEED_TARGET", "Z80"});
}

}  // namespace
}  // namespace heed
