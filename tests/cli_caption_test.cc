// Pictures with captions: drawn, learned, captioned, scored and looked at, by the command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::corpus_file;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_model;
using Arguments = std::vector<std::string>;

// 12 pictures in the folder "scenes", which are training and validation at once.
Arguments training(const fs::path& folder, const std::string& model, const Arguments& more = {}) {
  if (!file_exists(folder / "scenes/train.images")) {
    output_of({"corpus", "--kind", "pictures", "--out", (folder / "scenes").string(), "--pairs", "12", "--validation",
               "2", "--test", "2", "--seed", "3"});
  }
  const std::string images = (folder / "scenes/train.images").string(),
                    captions = (folder / "scenes/train.en").string();
  Arguments arguments = {"train",
                         "--task",
                         "caption",
                         "--source",
                         images,
                         "--target",
                         captions,
                         "--valid-source",
                         images,
                         "--valid-target",
                         captions,
                         "--out",
                         (folder / model).string(),
                         "--width",
                         "32",
                         "--heads",
                         "2",
                         "--ffn-width",
                         "64",
                         "--encoder-layers",
                         "1",
                         "--decoder-layers",
                         "1",
                         "--patch",
                         "16",
                         "--vocabulary-size",
                         "60",
                         "--rate",
                         "0.01",
                         "--warmup",
                         "20",
                         "--average",
                         "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CliCaption, AFewPicturesAreLearnedByHeart) {
  const fs::path folder = scratch_folder();
  const CommandResult trained =
      run_heed(training(folder, "model", {"--max-updates", "300", "--validate-every", "100"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.error;
  EXPECT_NE(trained.error.find("12 training pictures"), std::string::npos) << trained.error;
  const std::string model = (folder / "model").string();
  const auto scenes = [&](const char* name) { return (folder / "scenes" / name).string(); };
  const Json score =
      Json::parse(output_of({"evaluate", "--model", model, "--source", scenes("train.images"), "--reference",
                             scenes("train.en"), "--places", scenes("train.en.places"), "--json"}));
  EXPECT_EQ(score["captions"].integer(), 12);
  EXPECT_EQ(score["exact"].integer(), 12);
  EXPECT_GE(score["nouns"].integer(), 12);
  EXPECT_LE(score["found"].integer(), score["nouns"].integer());

  // One picture, as text, as JSON, and drawn.
  const std::string picture = scenes("test-0001.png");
  const std::string caption = output_of({"translate", model, "--image", picture});
  EXPECT_EQ(split_text_lines(caption, "output").size(), 1u);
  const std::vector<std::string> lines = split_text_lines(
      output_of({"translate", model, "--image", picture, "--image", scenes("test-0002.png"), "--json"}), "output");
  ASSERT_EQ(lines.size(), 2u);
  const Json json = Json::parse(lines[0]);
  EXPECT_EQ(json["translations"][Index{0}]["text"].string() + "\n", caption);
  const std::string drawn = (folder / "map.svg").string();
  EXPECT_EQ(output_of({"view", model, "--image", picture, "--out", drawn}), caption);
  EXPECT_NE(read_file(drawn).find("most at patch"), std::string::npos);
  EXPECT_EQ(output_of({"view", model, "--image", picture, "--target", "a red circle above a large blue star", "--head",
                       "1", "--out", drawn}),
            "a red circle above a large blue star\n");
  EXPECT_NE(read_file(drawn).find("circle: most at patch"), std::string::npos);

  // A word of it, in every head, set for a paper.
  output_of({"view", model, "--image", picture, "--target", "a red circle above a large blue star", "--word", "star",
             "--width", "8cm", "--font-size", "7", "--title", "none", "--out", drawn});
  const std::string star = read_file(drawn);
  EXPECT_NE(star.find(R"(width="226.772pt")"), std::string::npos);
  EXPECT_NE(star.find("What star looks at"), std::string::npos);  // in words
  EXPECT_NE(star.find("head 1: most at patch"), std::string::npos);
  EXPECT_EQ(star.find("circle"), std::string::npos);

  // Refusals.
  write_file(folder / "two.images", "scenes/test-0001.png\nscenes/test-0002.png\n");
  expect_refusal(run_heed({"evaluate", "--model", model, "--source", (folder / "two.images").string(), "--reference",
                           scenes("train.en")}),
                 kFailure, {"two.images has 2 lines", "train.en has 12"});
  for (const Arguments& ignored : {Arguments{"--beam", "2"}, {"--metrics", "bleu"}, {"--lowercase"}}) {
    Arguments arguments = {"evaluate",    "--model",         model, "--source", scenes("train.images"),
                           "--reference", scenes("train.en")};
    arguments.insert(arguments.end(), ignored.begin(), ignored.end());
    expect_refusal(run_heed(arguments), kWrongUsage, {ignored[0], "means nothing to captions"});
  }
  expect_refusal(run_heed({"evaluate", "--model", model, "--source", scenes("train.images"), "--reference",
                           scenes("train.en"), "--places", scenes("train.de.places")}),
                 kFailure, {"train.de.places:1", "are not"});
  expect_refusal(run_heed({"translate", model, "--image", scenes("train-0001.png")}), kFailure,
                 {scenes("train-0001.png"), "768 x 64 pixels", "64 x 64"});
  expect_refusal(run_heed({"translate", model, "--input", corpus_file("test.de")}), kFailure, {"--image"});
  for (const Arguments& ignored : {Arguments{"--chunk", "2"}, {"--long-lines", "crop"}}) {
    expect_refusal(run_heed({"translate", model, "--image", picture, ignored[0], ignored[1]}), kWrongUsage,
                   {ignored[0], "--image"});
  }
  expect_refusal(run_heed({"view", model, "--image", picture, "--layer", "1", "--out", drawn}), kFailure,
                 {"no cross layer 1"});
  expect_refusal(run_heed({"view", model, "--image", picture, "--head", "2", "--out", drawn}), kFailure, {"no head 2"});
  expect_refusal(run_heed({"view", model, "--image", picture, "--lines", "--out", drawn}), kFailure,
                 {"lines lead from words to words"});
  expect_refusal(run_heed({"view", model, "--image", picture, "--word", "zebra", "--out", drawn}), kFailure,
                 {"no word 'zebra'"});
}

TEST(CliCaption, ARunGoesOnToTheSameBits) {
  const fs::path folder = scratch_folder();
  const auto run = [&](const char* model, const Arguments& more) {
    const CommandResult result = run_heed(training(folder, model, more));
    ASSERT_EQ(result.exit_code, 0) << result.error;
  };
  const Arguments whole = {"--max-updates", "6", "--validate-every", "3", "--threads", "1"};
  run("whole", whole);
  run("parts", {"--max-updates", "3", "--validate-every", "3", "--threads", "2"});
  run("parts", {"--max-updates", "6", "--validate-every", "3", "--threads", "2"});
  EXPECT_EQ(read_file(folder / "whole/model.safetensors"), read_file(folder / "parts/model.safetensors"));
  // Other pictures are another run.
  fs::copy_file(folder / "scenes/test-0001.png", folder / "scenes/other.png");
  const std::string list = read_file(folder / "scenes/train.images");
  write_file(folder / "scenes/train.images", "other.png" + list.substr(list.find('\n')));
  expect_refusal(run_heed(training(folder, "parts", whole)), kFailure, {"pictures"});
}

TEST(CliCaption, WhatIsNoPictureForAModelIsRefused) {
  const fs::path folder = scratch_folder();
  const Arguments good = training(folder, "model", {"--max-updates", "1"});
  const std::string picture = (folder / "scenes/test-0001.png").string();
  expect_refusal(run_heed({"translate", tiny_model().string(), "--image", picture}), kFailure, {"translates text"});
  expect_refusal(run_heed({"view", tiny_model().string(), "--image", picture, "--out", (folder / "x.svg").string()}),
                 kFailure, {"translates text"});
  expect_refusal(run_heed({"evaluate", "--model", tiny_model().string(), "--source", corpus_file("test.de"),
                           "--reference", corpus_file("test.en"), "--places", corpus_file("test.en")}),
                 kFailure, {"--places", "reads no pictures"});
  const auto with = [&](const Arguments& more) {
    Arguments arguments = good;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_heed(arguments);
  };
  Arguments other_patch = good;
  other_patch[static_cast<std::size_t>(std::ranges::find(other_patch, "--patch") - other_patch.begin()) + 1] = "7";
  expect_refusal(run_heed(other_patch), kFailure, {"no whole patches of 7"});
  expect_refusal(with({"--batch-tokens", "10"}), kFailure, {"17 patches", "batch_tokens"});
  expect_refusal(with({"--model", "bahdanau"}), kWrongUsage, {"--model"});
  expect_refusal(run_heed({"train", "--source", corpus_file("train.de"), "--target", corpus_file("train.en"),
                           "--valid-source", corpus_file("valid.de"), "--valid-target", corpus_file("valid.en"),
                           "--out", (folder / "t").string(), "--patch", "16"}),
                 kWrongUsage, {"--patch", "--task translation"});
  expect_refusal(run_heed({"corpus", "--kind", "films", "--out", (folder / "x").string()}), kWrongUsage, {"--kind"});
}

}  // namespace
}  // namespace heed
