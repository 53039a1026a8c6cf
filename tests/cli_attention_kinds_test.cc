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
using testing::kFailure;
using testing::kWrongUsage;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_corpus;
using testing::tiny_model;

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

const std::vector<std::string> kSmall{"--width",          "16", "--ffn-width",      "32", "--heads", "4",
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
  const std::vector<std::vector<std::string>> kinds{{"--attention", "window(radius=2)"},
                                                    {"--attention", "cosine(scale=5) + alibi + strided(stride=3)"},
                                                    {"--attention", "additive + relative(buckets=8) + sinks"},
                                                    {"--attention", "squared_distance + rotary + entmax15"},
                                                    {"--attention", "soft_cap(cap=20) + bigbird(block=2) + sigmoid"},
                                                    {"--attention", "elu"},
                                                    {"--attention", "performer(features=8)"},
                                                    {"--cross-attention", "sparsemax"},
                                                    {"--activation", "silu", "--gated"},
                                                    {"--norm", "rms"},
                                                    {"--norm-place", "both"},
                                                    {"--kv-heads", "2"},
                                                    {"--kv-heads", "1"}};
  for (const std::vector<std::string>& kind : kinds) {
    SCOPED_TRACE(kind[1]);
    const std::filesystem::path folder = scratch_folder() / "model";
    std::vector<std::string> options = kSmall;
    options.insert(options.end(), kind.begin(), kind.end());
    const CommandResult trained = train(folder, options);
    ASSERT_EQ(trained.exit_code, 0) << trained.error;
    const Json config = Json::parse(run_heed({"info", folder.string(), "--json"}).output)["config"];
    std::string name = kind[0].substr(2);
    std::ranges::replace(name, '-', '_');
    if (config[name].kind() == Json::Kind::integer) {
      EXPECT_EQ(config[name].integer(), std::stol(kind[1]));
    } else {
      EXPECT_EQ(config[name].string(), kind[1]);
    }
    expect_translations(folder);
  }
}

TEST(CliAttentionKinds, SomeLayersAttendInAnotherWay) {
  const std::filesystem::path folder = scratch_folder() / "model";
  std::vector<std::string> options = kSmall;
  options.insert(options.end(),
                 {"--alternate", "--alternate-attention", "window(radius=2)", "--alternate-layers", "0"});
  const CommandResult trained = train(folder, options);
  ASSERT_EQ(trained.exit_code, 0) << trained.error;
  const Json config = Json::parse(run_heed({"info", folder.string(), "--json"}).output)["config"];
  EXPECT_EQ(config["alternate_layers"].integer_list(0), std::vector<Index>{0});
  expect_translations(folder);
  expect_refusal(train(folder, {"--alternate-layers", "0,two"}), kWrongUsage, {"--alternate-layers", "two"});
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
  expect_refusal(train(folder, {"--model", "luong", "--attention", "elu"}), kWrongUsage, {"--attention", "luong"});
  expect_refusal(train(folder, {"--model", "bahdanau", "--kv-heads", "1"}), kWrongUsage, {"--kv-heads", "bahdanau"});
  expect_refusal(train(folder, {"--reach", "local-m"}), kWrongUsage, {"--reach", "transformer"});
  expect_refusal(train(folder, {"--attention", "sparse"}), kWrongUsage, {"--attention", "strided", "sparse"});
  expect_refusal(train(folder, {"--cross-attention", "alibi"}), kFailure, {"cross_attention", "alibi"});
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// config.json as earlier versions wrote it: the first without kinds of self-attention, later ones with a kind and its
// numbers.
TEST(CliAttentionKinds, AModelOfAnEarlierVersionTranslatesAsBefore) {
  const Json now = read_json(tiny_model() / "config.json");
  Json first = Json::object();
  for (const auto& [name, value] : now["config"].members()) {
    if (name == "ffn_width")
      first.set("hidden", value);
    else if (name == "norm_place")
      first.set("norm_first", value.string() == "pre");
    else if (name != "norm" && name != "gated" && name != "kv_heads" && name != "attention" &&
             name != "cross_attention")
      first.set(name, value);
  }
  Json later = first;
  later.set("attention", "softmax");
  for (const char* name : {"attention_window", "attention_stride", "attention_block"}) later.set(name, 8);
  for (const char* name : {"attention_summary", "attention_global", "attention_random"}) later.set(name, 1);
  later.set("key_value_heads", 0);
  const auto translated = [](const std::filesystem::path& model) {
    return run_heed({"translate", model.string()}, {.input = "Der Mann kommt.\n"});
  };
  for (const Json& earlier : {first, later}) {
    const std::filesystem::path folder = scratch_folder() / "model";
    std::filesystem::copy(tiny_model(), folder, std::filesystem::copy_options::recursive);
    write_json(folder / "config.json", Json::object({{"model", "transformer"}, {"config", earlier}}));
    const CommandResult after = translated(folder);
    EXPECT_EQ(after.exit_code, 0) << after.error;
    EXPECT_EQ(after.output, translated(tiny_model()).output);
  }
}

}  // namespace
}  // namespace heed
