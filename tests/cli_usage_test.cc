// How the command-line program is called: help, version, exit codes.
#include <gtest/gtest.h>

#include "command.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::Output;
using testing::run_heed;

const std::vector<std::string> kCommands = {"corpus", "train",   "translate", "evaluate",
                                            "view",   "explain", "bench",     "info"};

TEST(CliUsage, EveryCommandsHelpHasAnExample) {
  for (const std::string& command : kCommands) {
    const CommandResult result = run_heed({command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_NE(result.output.find("Example"), std::string::npos) << command;
    EXPECT_NE(result.output.find("heed " + command), std::string::npos) << command;
    EXPECT_EQ(result.error, "") << command;
    EXPECT_EQ(run_heed({command, "-h"}).output, result.output) << command;
  }
}

TEST(CliUsage, HelpListsEveryCommand) {
  const CommandResult result = run_heed({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(run_heed({"-h"}).output, result.output);
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
  expect_refusal(run_heed({}), kWrongUsage, {"command", "translate"});
  expect_refusal(run_heed({"fly"}), kWrongUsage, {"fly"});
  expect_refusal(run_heed({"corpus"}), kWrongUsage, {"--out"});
  expect_refusal(run_heed({"translate"}), kWrongUsage, {"model"});
  expect_refusal(run_heed({"translate", "model", "--beem", "3"}), kWrongUsage, {"--beem"});
  expect_refusal(run_heed({"translate", "model", "--beam", "many"}), kWrongUsage, {"--beam", "many"});
  expect_refusal(run_heed({"translate", "model", "--chunk", "0"}), kWrongUsage, {"--chunk"});
  expect_refusal(run_heed({"info", "--threads", "0"}), kWrongUsage, {"--threads"});
  expect_refusal(run_heed({"info", ""}), kWrongUsage, {"is empty"});
  expect_refusal(run_heed({"info", "--parameters"}), kWrongUsage, {"--parameters", "needs a model"});
  expect_refusal(run_heed({"corpus", "--out", ""}), kWrongUsage, {"--out", "is empty"});
  expect_refusal(run_heed({"embed", "model", "--out", "x.txt"}), kWrongUsage, {"--out", "x.txt", ".npy"});
  expect_refusal(run_heed({"info", "--threads", "two"}), kWrongUsage, {"--threads"});
  expect_refusal(run_heed({"explain", "--digits", "99"}), kWrongUsage, {"--digits"});
}

TEST(CliUsage, ANumberIsPlainDecimalOrRefused) {
  for (const char* text : {"", " 5", "5 ", "0x10", "1e1", "5.0", "+5", "5,", "five", "nan", "--", "-1", "0", "1001",
                           "99999999999999999999", "-99999999999999999999"}) {
    const std::string shown = *text == '\0' ? "empty" : text;
    expect_refusal(run_heed({"translate", "m", "--beam", text}), kWrongUsage,
                   {"--beam: must be an integer from 1 to 1000, but is " + shown});
  }
  // 010 is ten, as it reads: it passes for a beam that holds ten translations, and eight would not.
  expect_refusal(run_heed({"translate", "no/model", "--beam", "010", "--best", "10"}), kFailure, {"no/model"});
  expect_refusal(run_heed({"translate", "no/model", "--beam", "010", "--best", "11"}), kWrongUsage, {"--best", "10"});
  for (const char* text : {"", " 1", "0x1p3", "1,5", "nan", "inf", "-inf", "1e999", "1.5x"}) {
    const std::string shown = *text == '\0' ? "empty" : text;
    expect_refusal(run_heed({"translate", "m", "--length-penalty", text}), kWrongUsage,
                   {"--length-penalty: must be a finite number, but is " + shown});
  }
  expect_refusal(run_heed({"translate", "m", "--repetition-penalty", "0"}), kWrongUsage,
                 {"--repetition-penalty: must be a number above 0"});
  expect_refusal(run_heed({"translate", "no/model", "--length-penalty", "-5e-1"}), kFailure, {"no/model"});
}

TEST(CliUsage, EveryNumberNamesItsOptionAndWhatWasGiven) {
  const std::vector<std::vector<std::string>> commands = {{"corpus", "--out", "e", "--pairs"},
                                                          {"corpus", "--out", "e", "--validation"},
                                                          {"corpus", "--out", "e", "--test"},
                                                          {"corpus", "--out", "e", "--seed"},
                                                          {"translate", "m", "--chunk"},
                                                          {"evaluate", "--model", "m", "--beam"},
                                                          {"view", "m", "--text", "a", "--out", "x.svg", "--layer"},
                                                          {"view", "m", "--text", "a", "--out", "x.svg", "--head"},
                                                          {"view", "m", "--text", "a", "--out", "x.svg", "--sentence"},
                                                          {"explain", "--scale"},
                                                          {"explain", "--length"},
                                                          {"explain", "--width"},
                                                          {"explain", "--digits"},
                                                          {"bench", "--seconds"},
                                                          {"info", "--threads"}};
  for (std::vector<std::string> command : commands) {
    command.emplace_back("nan");
    expect_refusal(run_heed(command), kWrongUsage, {command[command.size() - 2] + ": must be ", "but is nan"});
    command.back() = "99999999999999999999999999999999999999999999999999999999";
    if (command[1] == "--scale" || command[1] == "--seconds") command.back() = "1e999";
    const CommandResult result = run_heed(command);
    expect_refusal(result, kWrongUsage,
                   {command[command.size() - 2] + ": must be ", "but is " + command.back().substr(0, 5)});
    EXPECT_LT(result.error.size(), 150u) << result.error;
  }
}

// `heed train` with files that are not there, so that usage is all that it can judge.
CommandResult train_with(std::initializer_list<std::string> more) {
  std::vector<std::string> arguments = {"train", "--source",       "no/a", "--target", "b", "--valid-source",
                                        "c",     "--valid-target", "d",    "--out",    "e"};
  arguments.insert(arguments.end(), more);
  return run_heed(arguments);
}

TEST(CliUsage, TrainKnowsTheRangesOfAModelBeforeItReads) {
  expect_refusal(train_with({"--dropout", "nan"}), kWrongUsage,
                 {"--dropout: must be a number from 0 to below 1, but is nan"});
  expect_refusal(train_with({"--dropout", "1"}), kWrongUsage, {"--dropout", "from 0 to below 1", "is 1"});
  expect_refusal(train_with({"--max-length", "-1"}), kWrongUsage, {"--max-length", "from 2 to 16777216", "is -1"});
  expect_refusal(train_with({"--heads", "0"}), kWrongUsage, {"--heads", "from 1 to", "is 0"});
  expect_refusal(train_with({"--model", "luong", "--state-width", "1e3"}), kWrongUsage, {"--state-width", "is 1e3"});
  expect_refusal(train_with({"--dropout", "0.1"}), kFailure, {"no/a"});
}

TEST(CliUsage, ABooleanNeedsNoValueAndTakesNoOtherOption) {
  expect_refusal(train_with({"--tie-output", "--rate", "x"}), kWrongUsage,
                 {"--rate: must be a number above 0, but is x"});
  for (const char* value : {"true", "false"}) {
    expect_refusal(train_with({"--tie-output", value}), kFailure, {"no/a"});
    expect_refusal(train_with({std::string("--tie-output=") + value}), kFailure, {"no/a"});
  }
  expect_refusal(train_with({"--tie-output"}), kFailure, {"no/a"});
  for (const char* value : {"1", "no", "TRUE", ""}) {
    expect_refusal(train_with({"--tie-output", value}), kWrongUsage, {"--tie-output: must be true or false"});
  }
  // It counts: a Bahdanau model has no input feeding to switch on.
  expect_refusal(train_with({"--model", "bahdanau", "--input-feeding"}), kWrongUsage, {"--input-feeding", "bahdanau"});
  expect_refusal(train_with({"--model", "bahdanau", "--input-feeding", "false"}), kFailure, {"no/a"});
}

TEST(CliUsage, AnOptionIsNoOtherOptionsValue) {
  expect_refusal(run_heed({"translate", "m", "--input", "--beam", "5"}), kWrongUsage, {"--input", "--beam"});
  expect_refusal(run_heed({"translate", "m", "--beam", "--json"}), kWrongUsage, {"--beam", "--json"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "--reference", "a"}), kWrongUsage,
                 {"--hypothesis", "--reference"});
  expect_refusal(run_heed({"view", "no/model", "--text", "--Ja.", "--out", "x.svg"}), kFailure, {"no/model"});
}

TEST(CliUsage, AnUnknownOptionGetsAHint) {
  const auto hint = [](const CommandResult& result, const std::string& meant) {
    expect_refusal(result, kWrongUsage, {"did you mean " + meant + "?"});
  };
  hint(train_with({"--learning-rate", "0.1"}), "--rate");
  hint(train_with({"--lr=0.1"}), "--rate");
  hint(train_with({"--batch-size", "10"}), "--batch-tokens");
  hint(train_with({"--vocab-size", "10"}), "--vocabulary-size");
  hint(train_with({"--drpout", "0.1"}), "--dropout");
  hint(train_with({"--no-tie-output"}), "--tie-output false");
  hint(run_heed({"train", "--sorce", "a"}), "--source");  // which is missing, too
  hint(run_heed({"translate", "m", "--beam-size", "4"}), "--beam");
  hint(run_heed({"translate", "m", "-beam", "4"}), "--beam");
  hint(run_heed({"tarin"}), "train");
  expect_refusal(run_heed({"translate", "m", "--xyzzy"}), kWrongUsage, {"--xyzzy", "heed translate --help"});
  expect_refusal(run_heed({"translate", "m", "n"}), kWrongUsage, {"n is one argument more"});
}

TEST(CliUsage, TrainRefusesUnknownOptionsAndValues) {
  expect_refusal(train_with({"--witdh", "64"}), kWrongUsage, {"--witdh"});
  expect_refusal(train_with({"--width", "wide"}), kWrongUsage, {"--width", "wide"});
  expect_refusal(train_with({"--tokenizer", "letters"}), kWrongUsage, {"--tokenizer", "bpe", "letters"});
  expect_refusal(train_with({"--preset", "huge"}), kWrongUsage, {"--preset", "huge"});
  expect_refusal(train_with({"--model", "markov"}), kWrongUsage, {"--model", "markov"});
  expect_refusal(train_with({"--model", "luong", "--heads", "4"}), kWrongUsage, {"--heads"});
}

TEST(CliUsage, EvaluateSaysWhichOptionsBelongTogether) {
  expect_refusal(run_heed({"evaluate"}), kWrongUsage, {"--hypothesis", "--alignment", "--model"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "a"}), kWrongUsage, {"--reference"});
  expect_refusal(run_heed({"evaluate", "--alignment", "a"}), kWrongUsage, {"--gold"});
  expect_refusal(run_heed({"evaluate", "--model", "m", "--reference", "r"}), kWrongUsage, {"--source"});
  expect_refusal(run_heed({"evaluate", "--model", "m", "--source", "s", "--reference", "r", "--gold", "g"}),
                 kWrongUsage, {"--gold", "--alignment"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "a", "--reference", "b", "--metrics", "bleu,blue"}), kWrongUsage,
                 {"--metrics", "blue"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "a", "--model", "m"}), kWrongUsage, {"--hypothesis"});
}

TEST(CliUsage, ViewSaysWhichOptionsBelongTogether) {
  expect_refusal(run_heed({"view", "m", "--text", "a", "--out", "x.gif"}), kWrongUsage, {"--out", "x.gif", ".html"});
  expect_refusal(run_heed({"view", "m", "--text", "a"}), kWrongUsage, {"--out", "--trace"});
  expect_refusal(run_heed({"view", "m", "--out", "x.svg"}), kWrongUsage, {"--text", "--input"});
  expect_refusal(run_heed({"view", "--out", "x.svg"}), kWrongUsage, {"model"});
  expect_refusal(run_heed({"view", "t.json", "--text", "a", "--out", "x.svg"}), kWrongUsage, {"--text"});
  expect_refusal(run_heed({"view", "t.npz", "--record", "all", "--out", "x.svg"}), kWrongUsage, {"--record"});
  expect_refusal(run_heed({"view", "m", "--text", "a", "--trace", "t.txt"}), kWrongUsage, {"--trace", "t.txt", ".npz"});
  expect_refusal(run_heed({"view", "m", "--text", "a", "--record", "it", "--trace", "t.json"}), kWrongUsage,
                 {"--record"});
  expect_refusal(run_heed({"view", "m", "--text", "a", "--gold", "g", "--out", "x.svg"}), kWrongUsage, {"--gold"});
  expect_refusal(run_heed({"view", "m", "--image", "a", "--text", "b", "--out", "x.svg"}), kWrongUsage, {"--image"});
  expect_refusal(run_heed({"view", "m", "--text", "a", "--head", "first", "--out", "x.svg"}), kWrongUsage, {"--head"});
  expect_refusal(run_heed({"view", "m", "--text", "a", "--head", "1", "--out", "x.html"}), kWrongUsage, {"--head"});
  for (const char* option : {"--language=zh", "--fragment"}) {
    expect_refusal(run_heed({"view", "m", "--text", "a", "--out", "x.svg", option}), kWrongUsage, {"--", ".html"});
  }
  expect_refusal(run_heed({"view", "m", "--text", "a", "--out", "x.html", "--language", "tlh"}), kWrongUsage, {"zh"});
  expect_refusal(run_heed({"view", "m", "--input", "a", "--target", "b", "--out", "x.svg"}), kWrongUsage, {"--t"});
}

TEST(CliUsage, AForcedSimdTargetThatIsNotThereIsNamed) {
  expect_refusal(run_heed({"info"}, {.environment = {"HEED_TARGET=Z80"}}), kFailure, {"HEED_TARGET", "Z80"});
}

}  // namespace
}  // namespace heed
