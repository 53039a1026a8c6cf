// What every command does about text and files that cannot be read: an error, never an empty text and a success.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "command.h"
#include "trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::CommandOptions;
using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_corpus;
using testing::tiny_model;

using Arguments = std::vector<std::string>;

std::string corpus(const char* name) { return (tiny_corpus() / name).string(); }

Arguments train_arguments(const fs::path& out) {
  return {"train",
          "--source",
          corpus("train.de"),
          "--target",
          corpus("train.en"),
          "--valid-source",
          corpus("valid.de"),
          "--valid-target",
          corpus("valid.en"),
          "--out",
          out.string(),
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
          "1"};
}

// Every way to name a text, with this one in its place.
std::vector<Arguments> commands_that_read(const std::string& text) {
  const std::string model = tiny_model().string(), picture = (scratch_folder() / "x.svg").string();
  const std::string de = corpus("test.de"), en = corpus("test.en"), align = corpus("test.align");
  std::vector<Arguments> commands = {{"translate", model, "--input", text},
                                     {"view", model, "--input", text, "--out", picture},
                                     {"evaluate", "--hypothesis", text, "--reference", en},
                                     {"evaluate", "--hypothesis", en, "--reference", text},
                                     {"evaluate", "--model", model, "--source", text, "--reference", en},
                                     {"evaluate", "--alignment", text, "--gold", align},
                                     {"evaluate", "--alignment", align, "--gold", text}};
  const Arguments aligning = {"align",          model,
                              "--source",       de,
                              "--target",       en,
                              "--gold",         align,
                              "--valid-source", corpus("valid.de"),
                              "--valid-target", corpus("valid.en"),
                              "--valid-gold",   corpus("valid.align")};
  const Arguments training = train_arguments(scratch_folder() / "model");
  for (std::size_t place : {3, 5, 7, 9, 11, 13}) commands.push_back(aligning), commands.back()[place] = text;
  for (std::size_t place : {2, 4, 6, 8}) commands.push_back(training), commands.back()[place] = text;
  return commands;
}

std::string shown(const Arguments& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + ' ';
  return text;
}

void expect_failure(const Arguments& arguments, const CommandOptions& options, const std::string& message) {
  SCOPED_TRACE(shown(arguments));
  const CommandResult result = run_heed(arguments, options);
  expect_refusal(result, kFailure, {message});
  EXPECT_EQ(result.output, "");
}

// --- Standard input --------------------------------------------------------------------------------------------------

TEST(CliUnreadable, StandardInputThatIsClosedIsNoEmptyText) {
  std::vector<Arguments> commands = commands_that_read("-");
  commands.push_back({"translate", tiny_model().string()});
  for (const Arguments& command : commands) {
    expect_failure(command, {.closed = {STDIN_FILENO}}, "standard input: cannot read: Bad file descriptor");
  }
}

TEST(CliUnreadable, StandardInputThatIsAFolderIsNoEmptyText) {
  for (const Arguments& command : commands_that_read("-")) {
    expect_failure(command, {.input_file = tiny_corpus().string()}, "standard input: cannot read: Is a directory");
  }
}

TEST(CliUnreadable, StandardInputThatBreaksOffIsNoEnd) {
  for (const char* text : {"", "Ja.\n", "Ja.\nhalf a li"}) {
    for (const Arguments& command : commands_that_read("-")) {
      SCOPED_TRACE(shown(command));
      // Lines that came before may have been answered.
      expect_refusal(run_heed(command, {.input = text, .input_fails = true}), kFailure,
                     {"standard input: cannot read: Connection reset by peer"});
    }
  }
}

// --- Files -----------------------------------------------------------------------------------------------------------

// A file that exists and can be opened, but whose every read fails, under a name of this folder.
fs::path failing_file(const fs::path& folder, const char* name) {
  fs::remove(folder / name);
  fs::create_symlink("/proc/self/mem", folder / name);  // nothing is at address 0
  return folder / name;
}

TEST(CliUnreadable, AFolderIsNoText) {
  const std::string folder = tiny_corpus().string();
  for (const Arguments& command : commands_that_read(folder)) {
    expect_failure(command, {}, folder + ": cannot read: Is a directory");
  }
}

TEST(CliUnreadable, AFileThatCannotBeReadIsNoEmptyText) {
  if (!fs::exists("/proc/self/mem")) GTEST_SKIP() << "no /proc/self/mem, which can be opened but not read";
  const fs::path file = failing_file(tiny_corpus(), "unreadable");
  for (const Arguments& command : commands_that_read(file.string())) {
    expect_failure(command, {}, file.string() + ": cannot read: Input/output error");
  }
  fs::remove(file);
}

TEST(CliUnreadable, AnArrayATraceOrATensorFileThatCannotBeReadIsNamed) {
  if (!fs::exists("/proc/self/mem")) GTEST_SKIP() << "no /proc/self/mem, which can be opened but not read";
  const fs::path folder = scratch_folder();
  const auto expect_named = [&](const char* name, const std::function<Arguments(const std::string& file)>& command) {
    const fs::path file = failing_file(folder, name);
    expect_failure(command(file.string()), {}, file.string() + ": cannot read: Input/output error");
    fs::remove(file);
    fs::create_directory(file);
    expect_failure(command(file.string()), {}, file.string() + ": cannot read: Is a directory");
  };
  const std::string picture = (folder / "x.svg").string();
  expect_named("trace.json", [&](const std::string& file) { return Arguments{"view", file, "--out", picture}; });
  expect_named("q.npy",
               [](const std::string& file) { return Arguments{"explain", "--q", file, "--k", file, "--v", file}; });
  expect_named("mask.npy", [](const std::string& file) { return Arguments{"explain", "--mask", file}; });
  expect_named("m.safetensors", [](const std::string& file) { return Arguments{"info", file}; });
}

TEST(CliUnreadable, AFileOfAModelThatCannotBeReadIsNamed) {
  if (!fs::exists("/proc/self/mem")) GTEST_SKIP() << "no /proc/self/mem, which can be opened but not read";
  for (const char* name : {"config.json", "model.safetensors", "vocabulary.spm"}) {
    const fs::path model = scratch_folder() / "model";
    fs::copy(tiny_model(), model);
    const std::string message = failing_file(model, name).string() + ": cannot read: Input/output error";
    const std::string picture = (model / "x.svg").string();
    for (const Arguments& command : {Arguments{"translate", model.string()}, Arguments{"info", model.string()},
                                     Arguments{"view", model.string(), "--text", "Ja.", "--out", picture},
                                     Arguments{"evaluate", "--model", model.string(), "--source", corpus("test.de"),
                                               "--reference", corpus("test.en")}}) {
      expect_failure(command, {.input = "Ja.\n"}, message);
    }
  }
}

TEST(CliUnreadable, ARunWhoseFilesCannotBeReadDoesNotGoOnFromNothing) {
  if (!fs::exists("/proc/self/mem")) GTEST_SKIP() << "no /proc/self/mem, which can be opened but not read";
  for (const char* name : {"training/state.safetensors", "vocabulary.spm", "metrics.jsonl"}) {
    const fs::path model = scratch_folder() / "model";
    Arguments train = train_arguments(model);
    ASSERT_EQ(run_heed(train).exit_code, 0);
    train.back() = "2";
    const std::string message = failing_file(model, name).string() + ": cannot read: Input/output error\n";
    const CommandResult result = run_heed(train);
    EXPECT_EQ(result.exit_code, kFailure) << name;
    EXPECT_TRUE(result.error.ends_with(message)) << result.error;
  }
}

}  // namespace
}  // namespace heed
