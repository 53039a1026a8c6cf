// Language models from the command line: trained, generating, scoring, evaluated, and refused where a source is needed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/observe/trace_file.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::corpus_file;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::language_model_training;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_language_model;
using testing::tiny_model;

std::vector<std::string> lines_of(const std::vector<std::string>& arguments) {
  return split_text_lines(output_of(arguments), "output");
}

const std::string& language_model() {
  static const std::string folder = tiny_language_model().string();
  return folder;
}

TEST(CliLanguageModel, TrainingReportsPerplexityAndSaysWhatItIs) {
  const std::string folder = (scratch_folder() / "model").string();
  const CommandResult result = run_heed(language_model_training(folder));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE((result.output + result.error).find("perplexity"), std::string::npos) << result.output << result.error;
  const Json info = Json::parse(output_of({"info", folder, "--json"}));
  EXPECT_EQ(info["config"]["encoder_layers"].integer(), 0);
}

TEST(CliLanguageModel, AStreamIsTheTextOfItsJson) {
  const std::vector<std::string> prompt{"generate", language_model(), "--prompt", "The man", "--max-tokens", "12"};
  const std::string stream = output_of(prompt);
  std::vector<std::string> with_json = prompt;
  with_json.push_back("--json");
  const Json json = Json::parse(output_of(with_json));
  EXPECT_EQ(stream, json["text"].string() + "\n");
  EXPECT_EQ(json["tokens"].size(), json["token_scores"].size());
  EXPECT_LE(json["tokens"].size(), 12u);
}

TEST(CliLanguageModel, APromptGivesTheSameBytesAloneAndBesideOthers) {
  const std::string file = (scratch_folder() / "prompts.txt").string();
  const std::vector<std::string> prompts{"The man", "A", "The old woman sees", "I"};
  write_file(file, fmt::format("{}\n{}\n{}\n{}\n", prompts[0], prompts[1], prompts[2], prompts[3]));
  for (const std::vector<std::string>& sampling :
       {std::vector<std::string>{}, {"--temperature", "0.8", "--top-p", "0.9", "--seed", "7"}}) {
    std::vector<std::string> arguments{"generate", language_model(), "--input", file, "--max-tokens", "8"};
    arguments.insert(arguments.end(), sampling.begin(), sampling.end());
    const std::vector<std::string> together = lines_of(arguments);
    EXPECT_EQ(lines_of(arguments), together);
    ASSERT_EQ(together.size(), prompts.size());
    std::vector<std::string> alone{"generate", language_model(), "--prompt", prompts[0], "--max-tokens", "8"};
    alone.insert(alone.end(), sampling.begin(), sampling.end());
    EXPECT_EQ(lines_of(alone), std::vector<std::string>{together[0]});
  }
}

TEST(CliLanguageModel, KeysAndValuesAreKeptInTheTypeThatIsAskedFor) {
  const auto scores = [](const std::string& cache) {
    const Json json = Json::parse(output_of({"generate", language_model(), "--prompt", "The man", "--max-tokens", "6",
                                             "--temperature", "0", "--cache", cache, "--json"}));
    std::vector<double> all;
    for (Index i = 0; i < json["token_scores"].size(); ++i) all.push_back(json["token_scores"][i].number());
    return all;
  };
  const std::vector<double> exact = scores("f32");
  for (const char* cache : {"bf16", "f16", "int8"}) {
    EXPECT_NE(scores(cache), exact) << cache;
    EXPECT_NEAR(scores(cache).at(0), exact.at(0), 0.05) << cache;
  }
  expect_refusal(run_heed({"generate", language_model(), "--cache", "int4"}), kWrongUsage, {"--cache"});
}

TEST(CliLanguageModel, AnotherSeedIsAnotherTextAndSamplesOfAPromptDiffer) {
  const auto sampled = [](const char* seed) {
    return lines_of({"generate", language_model(), "--prompt", "The", "--samples", "3", "--max-tokens", "20",
                     "--temperature", "2", "--seed", seed});
  };
  const std::vector<std::string> first = sampled("1");
  ASSERT_EQ(first.size(), 3u);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(sampled("1"), first);
  EXPECT_NE(sampled("2"), first);
}

TEST(CliLanguageModel, TheScoresOfATextAddUpToItsPerplexity) {
  const std::vector<std::string> lines =
      lines_of({"score", language_model(), "--text", corpus_file("test.en"), "--json"});
  ASSERT_EQ(lines.size(), 10u);
  double nats = 0;
  std::size_t tokens = 0;
  for (const std::string& line : lines) {
    const Json json = Json::parse(line);
    ASSERT_EQ(json["tokens"].size(), json["log_probabilities"].size());
    double sum = 0;
    for (double one : json["log_probabilities"].number_list()) sum += one;
    EXPECT_DOUBLE_EQ(json["score"].number(), sum);
    nats -= sum, tokens += json["tokens"].size();
  }
  const Json all = Json::parse(output_of({"evaluate", "--model", language_model(), "--text", corpus_file("test.en"),
                                          "--counts-of", corpus_file("train.en"), "--json"}));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0]["tokens"].integer(), static_cast<Index>(tokens));
  EXPECT_NEAR(all[0]["perplexity"].number(), std::exp(nats / static_cast<double>(tokens)),
              1e-9 * all[0]["perplexity"].number());
  for (std::size_t i : {0, 1, 2}) {
    EXPECT_EQ(all[i]["tokens"].integer(), all[0]["tokens"].integer());
    EXPECT_GT(all[i]["perplexity"].number(), 1);
    EXPECT_GT(all[i]["bits_per_byte"].number(), 0);
  }
  EXPECT_EQ(all[1]["name"].string(), "unigrams");
  EXPECT_EQ(all[2]["name"].string(), "5-grams");
}

TEST(CliLanguageModel, ATranslationModelScoresPairs) {
  const std::vector<std::string> pairs{"score",    tiny_model().string(), "--source", corpus_file("test.de"),
                                       "--target", corpus_file("test.en")};
  const std::vector<std::string> lines = lines_of(pairs);
  ASSERT_EQ(lines.size(), 10u);
  std::vector<std::string> with_json = pairs;
  with_json.push_back("--json");
  const std::vector<std::string> objects = lines_of(with_json);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json json = Json::parse(objects[i]);
    EXPECT_TRUE(lines[i].starts_with(fmt::format("{:.4f}\t", json["score"].number()))) << lines[i];
    EXPECT_LT(json["score"].number(), 0);
  }
}

TEST(CliLanguageModel, ViewShowsWhatItReads) {
  const std::filesystem::path folder = scratch_folder();
  const std::string trace = (folder / "trace.json").string(), page = (folder / "page.html").string(),
                    picture = (folder / "picture.svg").string();
  const std::string text = "The man sees the old woman.";
  EXPECT_EQ(output_of({"view", language_model(), "--text", text, "--out", page, "--trace", trace}), "");
  const AttentionTrace made = read_trace(trace);
  EXPECT_EQ(made.target.text, text);
  EXPECT_TRUE(made.source.tokens.empty());
  ASSERT_EQ(made.maps.size(), 1u);
  const AttentionTrace::Map& map = made.maps.front();
  EXPECT_EQ(map.kind, AttentionKind::decoder);
  for (Index q = 0; q < map.queries; ++q) {
    double sum = 0;
    for (Index k = 0; k < map.keys; ++k) {
      sum += map.weight(0, q, k);
      if (k > q) {
        EXPECT_EQ(map.weight(0, q, k), 0) << q << " " << k;
      }
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_NE(read_file(page).find(text), std::string::npos);
  EXPECT_EQ(output_of({"view", trace, "--out", picture}), "");
  EXPECT_NE(read_file(picture).find("Decoder self-attention"), std::string::npos);
}

TEST(CliLanguageModel, ViewRefusesWhatIsATranslations) {
  const std::string out = (scratch_folder() / "page.html").string(), model = language_model();
  expect_refusal(run_heed({"view", model, "--text", "A man.", "--target", "Ein Mann.", "--out", out}), kWrongUsage,
                 {"--target", "language model"});
  expect_refusal(run_heed({"view", model, "--text", "A man.", "--beam", "2", "--out", out}), kWrongUsage, {"--beam"});
  std::string long_text;
  for (int i = 0; i < 200; ++i) long_text += "man ";
  expect_refusal(run_heed({"view", model, "--text", long_text, "--out", out}), kFailure, {"--text:1", "can hold"});
  expect_refusal(run_heed({"view", model, "--text", " ", "--out", out}), kFailure, {"no sentence"});
  EXPECT_FALSE(std::filesystem::exists(out));
  const CommandResult cropped = run_heed({"view", model, "--text", long_text, "--long-lines", "crop", "--out", out});
  EXPECT_EQ(cropped.exit_code, 0) << cropped.error;
  EXPECT_TRUE(std::filesystem::exists(out));
}

TEST(CliLanguageModel, WhatNeedsASourceRefusesIt) {
  expect_refusal(run_heed({"translate", language_model(), "--input", corpus_file("test.de")}), kFailure,
                 {language_model() + ": translates no text: it continues text (generate)"});
  expect_refusal(
      run_heed({"score", language_model(), "--source", corpus_file("test.de"), "--target", corpus_file("test.en")}),
      kWrongUsage, {"--text"});
}

TEST(CliLanguageModel, WhatContinuesTextRefusesATranslator) {
  const std::string model = tiny_model().string(), text = corpus_file("test.en");
  expect_refusal(run_heed({"generate", model, "--prompt", "Hello"}), kFailure,
                 {model + ": continues no text: it translates text (translate)"});
  expect_refusal(run_heed({"generate", model, "--prompt", "a\xFF"}), kFailure, {"--prompt: byte 2 is not valid UTF-8"});
  expect_refusal(run_heed({"score", model, "--text", text}), kWrongUsage, {"--source"});
  expect_refusal(run_heed({"evaluate", "--model", model, "--text", text}), kFailure,
                 {model + ": scores no text by itself: it translates text (translate)"});
}

TEST(CliLanguageModel, OptionsOfTheOtherTaskAreWrongUsage) {
  const std::string folder = (scratch_folder() / "model").string();
  std::vector<std::string> both = language_model_training(folder);
  both.insert(both.end(), {"--source", corpus_file("train.de")});
  expect_refusal(run_heed(both), kWrongUsage, {"--source"});
  for (const char* option : {"--source", "--reference"}) {
    expect_refusal(run_heed({"evaluate", "--model", language_model(), "--text", corpus_file("test.en"), option,
                             corpus_file("test.de")}),
                   kWrongUsage, {"--text", option});
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace heed
