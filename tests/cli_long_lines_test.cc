// Lines that are too long for a model, and lines without a sentence: one such line does not stop a job that can do
// without it.
#include <gtest/gtest.h>

#include <algorithm>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_model;

CommandResult translate_long(const std::string& input, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"translate", tiny_model().string(), "--beam", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_heed(arguments, {.input = input});
}

// As many words of one piece or more: far more than the 99 tokens that the model can hold.
std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "Hund ";
  return text;
}

// Where no word is known, a line is one unknown token, however long.
std::string unknown(std::size_t bytes) { return std::string(bytes, '#'); }

TEST(CliLongLines, WhatStandsBeforeALineThatFailsIsTranslated) {
  const CommandResult sound = translate_long("Ja.\n\nNein.\n");
  const CommandResult failed = translate_long("Ja.\n\nNein.\n" + words(200) + "\nJa.\n");
  expect_refusal(failed, kFailure, {"heed: standard input:4: the sentence has"});
  EXPECT_EQ(failed.output, sound.output);
  const CommandResult overlong = translate_long("Ja.\n\nNein.\n" + unknown(kLongestLine + 1) + "\nJa.\n");
  expect_refusal(overlong, kFailure, {"heed: standard input:4: the line has more than 65536 bytes"});
  EXPECT_EQ(overlong.output, sound.output);
}

TEST(CliLongLines, TheyAreTakenForEmptyWithOneWarning) {
  const CommandResult result =
      translate_long("Ja.\n" + words(200) + "\nNein.\n" + unknown(kLongestLine + 1) + "\n" + words(300) + "\nJa.",
                     {"--long-lines", "empty"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, translate_long("Ja.\n\nNein.\n\n\nJa.\n").output);
  EXPECT_EQ(result.error,
            "heed: standard input: 3 sentences were too long for the model and taken for empty: line 2, 4, 5\n");
}

TEST(CliLongLines, TheyAreCroppedWithOneWarning) {
  // 800,000 characters that the vocabulary lacks: only the first are read.
  const CommandResult result = translate_long("Ja.\n" + words(200) + "\n" + unknown(800'000) + "\nNein.\n",
                                              {"--long-lines", "crop", "--chunk", "1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output,
            translate_long("Ja.\n" + words(300) + "\n" + unknown(kLongestLine) + "\nNein.\n", {"--long-lines", "crop"})
                .output);
  EXPECT_EQ(result.error, "heed: standard input: 2 sentences were too long for the model and cropped: line 2, 3\n");
}

TEST(CliLongLines, AWarningNamesTheFirstOfMany) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += words(120) + "\n";
  EXPECT_EQ(translate_long(text, {"--long-lines", "empty"}).error,
            "heed: standard input: 12 sentences were too long for the model and taken for empty: line 1, 2, 3, 4, 5, "
            "6, 7, 8, 9, 10, ...\n");
}

TEST(CliLongLines, NoWarningWithoutThem) {
  EXPECT_EQ(translate_long("Ja.\n\nNein.\n", {"--long-lines", "crop"}).error, "");
  expect_refusal(translate_long("Ja.\n", {"--long-lines", "skip"}), kWrongUsage, {"--long-lines", "skip", "crop"});
}

// The sentences that a page of these lines shows, and what view prints.
struct Viewed {
  std::vector<std::string> sentences;
  CommandResult result;
};

Viewed view(const std::string& text, const std::vector<std::string>& more = {}) {
  const auto folder = scratch_folder();
  const std::string trace = (folder / "trace.json").string();
  write_file(folder / "text", text);
  std::vector<std::string> arguments = {
      "view", tiny_model().string(), "--input", (folder / "text").string(), "--trace", trace, "--beam", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Viewed viewed{{}, run_heed(arguments)};
  if (viewed.result.exit_code != 0) return viewed;
  for (const Json& one : Json::parse(read_file(trace))["traces"].items())
    viewed.sentences.push_back(one["source"]["text"].string());
  return viewed;
}

TEST(CliLongLines, ABlankLineDoesNotEndView) {
  const Viewed viewed = view("\nJa.\n \t\nNein.\n");
  EXPECT_EQ(viewed.result.exit_code, 0) << viewed.result.error;
  EXPECT_EQ(viewed.sentences, (std::vector<std::string>{"Ja.", "Nein."}));
  EXPECT_EQ(viewed.result.output, translate_long("\nJa.\n \t\nNein.\n").output);  // each line keeps its place
  EXPECT_EQ(viewed.result.error, "");
  expect_refusal(view("\n \n").result, kFailure, {"text: there is no sentence to look at"});
}

TEST(CliLongLines, ViewCropsThemOrLeavesThemOut) {
  const std::string text = "Ja.\n" + words(200) + "\nNein.\n";
  const Viewed cropped = view(text, {"--long-lines", "crop"}), empty = view(text, {"--long-lines", "empty"});
  EXPECT_EQ(cropped.sentences, (std::vector<std::string>{"Ja.", words(200), "Nein."})) << cropped.result.error;
  EXPECT_EQ(empty.sentences, (std::vector<std::string>{"Ja.", "Nein."})) << empty.result.error;
  EXPECT_EQ(cropped.result.output, translate_long(text, {"--long-lines", "crop"}).output);
  EXPECT_EQ(empty.result.output, translate_long(text, {"--long-lines", "empty"}).output);
  for (const Viewed& one : {cropped, empty}) {
    EXPECT_EQ(std::ranges::count(one.result.error, '\n'), 1) << one.result.error;
    EXPECT_NE(one.result.error.find("text: one sentence was too long for the model and "), std::string::npos);
  }
  expect_refusal(run_heed({"view", "m", "--text", "a", "--target", "b", "--out", "x.svg", "--long-lines", "crop"}),
                 kWrongUsage, {"--long-lines", "--target"});
}

TEST(CliLongLines, AnyThreadsGiveTheSameTranslations) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Der Hund sieht " + words(i % 7) + "\n" + (i % 9 == 0 ? "\n" : "");
  const std::string one = translate_long(text, {"--json", "--threads", "1"}).output;
  EXPECT_EQ(std::ranges::count(one, '\n'), 67);
  for (const char* threads : {"2", "5"}) {
    for (const char* chunk : {"1", "7", "1000"}) {
      EXPECT_EQ(translate_long(text, {"--json", "--threads", threads, "--chunk", chunk}).output, one)
          << threads << ", " << chunk;
    }
  }
}

}  // namespace
}  // namespace heed
