// heed train --from and --lora, and what the other commands do with what they leave.
#include <gtest/gtest.h>

#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/io/json.h"
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

std::vector<std::string> going_on(const std::string& from, const std::string& out,
                                  std::initializer_list<std::string> more = {}) {
  std::vector<std::string> arguments{"train",
                                     "--from",
                                     from,
                                     "--train",
                                     corpus_file("train.en"),
                                     "--valid",
                                     corpus_file("valid.en"),
                                     "--out",
                                     out,
                                     "--batch-tokens",
                                     "600",
                                     "--max-updates",
                                     "4",
                                     "--validate-every",
                                     "2"};
  arguments.insert(arguments.end(), more);
  return arguments;
}

TEST(CliTrainFrom, ALanguageModelGoesOnAndItsTaskIsItsOwn) {
  const std::string out = (scratch_folder() / "out").string();
  // Rates of dropout are the training's; these are those that the model has in its config.json.
  EXPECT_EQ(run_heed(going_on(tiny_language_model().string(), out, {"--dropout", "0.2"})).exit_code, 0);
  EXPECT_EQ(read_file(out + "/config.json"), read_file(tiny_language_model() / "config.json"));
  EXPECT_NE(output_of({"generate", out, "--prompt", "The man", "--max-tokens", "4"}), "");
}

TEST(CliTrainFrom, EveryCommandReadsAnAdapterAsTheModelThatConvertMergesItInto) {
  const std::filesystem::path folder = scratch_folder();
  const std::string adapter = (folder / "adapter").string(), merged = (folder / "merged").string();
  const auto training = going_on(tiny_language_model().string(), adapter,
                                 {"--lora", "2", "--lora-alpha", "4", "--lora-targets", "all", "--rate", "0.05"});
  EXPECT_EQ(run_heed(training).exit_code, 0);
  EXPECT_EQ(output_of({"convert", adapter, "--type", "f32", "--out", merged}), "");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"generate", "", "--prompt", "The man", "--max-tokens", "6", "--json"},
        std::vector<std::string>{"score", "", "--text", corpus_file("test.en")}}) {
    std::vector<std::string> of_adapter = command, of_merged = command, of_base = command;
    of_adapter[1] = adapter, of_merged[1] = merged, of_base[1] = tiny_language_model().string();
    EXPECT_EQ(output_of(of_adapter), output_of(of_merged));
    if (command[0] == "score") {
      EXPECT_NE(output_of(of_adapter), output_of(of_base));
    }
  }
  EXPECT_LT(std::filesystem::file_size(adapter + "/model.safetensors"),
            std::filesystem::file_size(merged + "/model.safetensors"));
  EXPECT_EQ(Json::parse(output_of({"info", adapter, "--json"}))["parameter_count"].integer(),
            Json::parse(output_of({"info", merged, "--json"}))["parameter_count"].integer());
}

TEST(CliTrainFrom, RefusesInOneLine) {
  const std::filesystem::path folder = scratch_folder();
  const std::string out = (folder / "out").string(), base = tiny_language_model().string();
  expect_refusal(run_heed(going_on(base, out, {"--width", "32"})), kWrongUsage, {"--width", "a run with --from"});
  expect_refusal(run_heed(going_on(base, out, {"--vocabulary-size", "32"})), kWrongUsage,
                 {"--vocabulary-size", "a run with --from"});
  expect_refusal(run_heed(going_on(base, out, {"--preset", "tiny"})), kWrongUsage, {"--preset", "--from"});
  expect_refusal(run_heed(going_on(base, out, {"--model", "luong"})), kWrongUsage, {"--model", "--from"});
  expect_refusal(run_heed(going_on(tiny_model().string(), out)), kFailure, {"translates"});
  expect_refusal(run_heed(going_on((folder / "none").string(), out)), kFailure, {"none: "});
  expect_refusal(run_heed(going_on(base, base)), kFailure, {"without --from"});
  std::vector<std::string> without = testing::language_model_training(out);
  without.insert(without.end(), {"--lora", "2"});
  expect_refusal(run_heed(without), kWrongUsage, {"--lora", "a run without --from"});
  EXPECT_FALSE(file_exists(out));
}

}  // namespace
}  // namespace heed
