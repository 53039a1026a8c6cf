// Models with other attention than the Transformer's own, from the command line: trained, described, translating.
#include <gtest/gtest.h>

#include <algorithm>

#include "command.h"
#include "heed/io/json.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::expect_refusal;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_corpus;
using testing::tiny_model;

constexpr int kWrongUsage = 2;

CommandResult train(const std::filesystem::path& folder, const std::vector<std::string>& options) {
  const auto file = [](const char* name) { return (tiny_corpus() / name).string(); };
  std::vector<std::string> arguments{"train",
                                     "--source",
                                     file("train.de"),
                                     "--target",
                                     file("train.en"),
                                     "--valid-source",
                                     file("valid.de"),
                                     "--valid-target",
                                     file("valid.en"),
                                     "--out",
                                     folder.string(),
                                     "--max-updates",
                                     "2",
                                     "--validate-every",
                                     "2",
                                     "--batch-tokens",
                                     "600",
                                     "--vocabulary-size",
                                     "200"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_heed(arguments);
}

const std::vector<std::string> kSmall{"--width",          "16", "--hidden",         "32", "--heads", "4",
                                      "--encoder-layers", "1",  "--decoder-layers", "1"};
const std::vector<std::string> kSmallRnn{"--model", "luong", "--embedding-width", "16", "--state-width", "16"};

// One line of English for each line of German, by a beam, whose rows move in the cache.
void expect_translations(const std::filesystem::path& folder) {
  const CommandResult result =
      run_heed({"translate", folder.string(), "--input", (tiny_corpus() / "test.de").string(), "--beam", "3"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(std::ranges::count(result.output, '\n'), 10);
}

TEST(CliAttentionKinds, EachIsTrainedShownAndTranslatesWithABeam) {
  const std::vector<std::vector<std::string>> kinds{{"--attention", "local", "--attention-window", "2"},
                                                    {"--attention", "strided", "--attention-stride", "3"},
                                                    {"--attention", "fixed", "--attention-block", "4"},
                                                    {"--attention", "bigbird", "--attention-block", "2"},
                                                    {"--attention", "linear"},
                                                    {"--key-value-heads", "2"},
                                                    {"--key-value-heads", "1"}};
  for (const std::vector<std::string>& kind : kinds) {
    SCOPED_TRACE(kind[1]);
    const std::filesystem::path folder = scratch_folder() / "model";
    std::vector<std::string> options = kSmall;
    options.insert(options.end(), kind.begin(), kind.end());
    const CommandResult trained = train(folder, options);
    ASSERT_EQ(trained.exit_code, 0) << trained.error;
    const Json config = Json::parse(run_heed({"info", folder.string(), "--json"}).output)["config"];
    if (kind[0] == "--attention") {
      EXPECT_EQ(config["attention"].string(), kind[1]);
    } else {
      EXPECT_EQ(config["key_value_heads"].integer(), std::stol(kind[1]));
    }
    expect_translations(folder);
  }
}

TEST(CliAttentionKinds, ARecurrentModelLooksAroundAPlace) {
  for (const std::string reach : {"local-m", "local-p"}) {
    const std::filesystem::path folder = scratch_folder() / "model";
    std::vector<std::string> options = kSmallRnn;
    options.insert(options.end(), {"--reach", reach, "--local-window", "3"});
    const CommandResult trained = train(folder, options);
    ASSERT_EQ(trained.exit_code, 0) << trained.error;
    EXPECT_NE(run_heed({"info", folder.string()}).output.find(reach), std::string::npos);
    expect_translations(folder);
  }
}

TEST(CliAttentionKinds, WhatAnotherModelHasIsRefused) {
  const std::filesystem::path folder = scratch_folder() / "model";
  expect_refusal(train(folder, {"--model", "luong", "--attention", "linear"}), kWrongUsage, {"--attention", "luong"});
  expect_refusal(train(folder, {"--model", "bahdanau", "--key-value-heads", "1"}), kWrongUsage,
                 {"--key-value-heads", "bahdanau"});
  expect_refusal(train(folder, {"--reach", "local-m"}), kWrongUsage, {"--reach", "transformer"});
  expect_refusal(train(folder, {"--attention", "sparse"}), kWrongUsage, {"--attention", "strided", "sparse"});
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// config.json as it was written before there were kinds of self-attention.
TEST(CliAttentionKinds, AModelOfAnEarlierVersionTranslatesAsBefore) {
  const std::filesystem::path folder = scratch_folder() / "model";
  std::filesystem::copy(tiny_model(), folder, std::filesystem::copy_options::recursive);
  const Json now = read_json(folder / "config.json");
  Json earlier = Json::object();
  for (const auto& [name, value] : now["config"].members()) {
    const bool later = name == "attention" || name == "key_value_heads" ||
                       (name.starts_with("attention_") && name != "attention_dropout");
    if (!later) earlier.set(name, value);
  }
  ASSERT_LT(earlier.size(), now["config"].size());
  write_json(folder / "config.json", Json::object({{"model", "transformer"}, {"config", earlier}}));
  const auto translated = [](const std::filesystem::path& model) {
    return run_heed({"translate", model.string()}, {.input = "Der Mann kommt.\n"});
  };
  const CommandResult before = translated(tiny_model()), after = translated(folder);
  EXPECT_EQ(after.exit_code, 0) << after.error;
  EXPECT_EQ(after.output, before.output);
}

}  // namespace
}  // namespace heed
