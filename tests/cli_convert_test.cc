// heed convert, and what the other commands do with a model that it wrote.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/text_lines.h"
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

constexpr const char* kTypes[] = {"f32", "bf16", "f16", "int8"};

// The tiny translator in this type, in `folder`.
std::string converted(const std::filesystem::path& folder, const std::string& type) {
  const std::string out = (folder / type).string();
  EXPECT_EQ(output_of({"convert", tiny_model().string(), "--type", type, "--out", out}), "");
  return out;
}

TEST(CliConvert, ATranslatorOfAnyTypeDoesAllThatATranslatorDoes) {
  const std::filesystem::path folder = scratch_folder();
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    const std::string model = converted(folder, type);
    const std::string text =
        output_of({"translate", model, "--input", corpus_file("test.de"), "--beam", "3", "--json"});
    EXPECT_EQ(split_text_lines(text, "output").size(), 10u);
    if (std::string_view(type) == "f32") {
      EXPECT_EQ(text, output_of({"translate", tiny_model().string(), "--input", corpus_file("test.de"), "--beam", "3",
                                 "--json"}));
      EXPECT_EQ(read_file(model + "/model.safetensors"), read_file(tiny_model() / "model.safetensors"));
    }
    EXPECT_EQ(output_of({"translate", model, "--input", corpus_file("test.de"), "--beam", "3", "--json", "--threads",
                         "1", "--chunk", "3"}),
              text);
    const std::string scores =
        output_of({"score", model, "--source", corpus_file("test.de"), "--target", corpus_file("test.en")});
    EXPECT_EQ(split_text_lines(scores, "output").size(), 10u);
    EXPECT_NE(output_of({"evaluate", "--model", model, "--source", corpus_file("test.de"), "--reference",
                         corpus_file("test.en"), "--metrics", "bleu"}),
              "");
    const std::string page = (folder / type / "page.html").string();
    output_of({"view", model, "--text", "Der Mann ruft seine Frau an.", "--out", page});
    EXPECT_TRUE(file_exists(page));
  }
}

TEST(CliConvert, ALanguageModelOfAnyTypeDoesAllThatALanguageModelDoes) {
  const std::filesystem::path folder = scratch_folder();
  const std::string f32 = tiny_language_model().string(), text = corpus_file("test.en");
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    const std::string model = (folder / type).string();
    output_of({"convert", f32, "--type", type, "--out", model});
    EXPECT_NE(output_of({"generate", model, "--prompt", "The man", "--max-tokens", "5"}).find("The man"),
              std::string::npos);
    EXPECT_EQ(split_text_lines(output_of({"score", model, "--text", text}), "output").size(), 10u);
    EXPECT_NE(output_of({"evaluate", "--model", model, "--text", text}), "");
    output_of({"view", model, "--text", "The man", "--out", model + "/page.html"});
    EXPECT_TRUE(file_exists(model + "/page.html"));
  }
}

TEST(CliConvert, InfoSaysTheTypesAndTheirBytes) {
  const Json before = Json::parse(output_of({"info", tiny_model().string(), "--json"}));
  EXPECT_EQ(before["bytes"]["f32"].integer(), 4 * before["parameter_count"].integer());
  const std::string model = converted(scratch_folder(), "int8");
  const Json info = Json::parse(output_of({"info", model, "--json", "--parameters"}));
  EXPECT_EQ(info["parameter_count"].integer(), before["parameter_count"].integer());
  Index weights = 0, outputs = 0, others = 0;
  for (const Json& parameter : info["parameters"].items()) {
    const bool weight = parameter["dtype"].string() == "i8";
    (weight ? weights : others) += parameter["count"].integer();
    if (weight) outputs += parameter["shape"][Index{0}].integer();
  }
  EXPECT_GT(weights, others);
  EXPECT_EQ(info["bytes"]["i8"].integer(), weights);
  EXPECT_EQ(info["bytes"]["f32"].integer(), 4 * (others + outputs));
  const std::string text = output_of({"info", model});
  EXPECT_NE(text.find(fmt::format("{} bytes of f32, {} bytes of i8", 4 * (others + outputs), weights)),
            std::string::npos)
      << text;
}

TEST(CliConvert, RefusesInOneLine) {
  const std::filesystem::path folder = scratch_folder();
  const std::string model = tiny_model().string(), out = (folder / "out").string();
  expect_refusal(run_heed({"convert", model, "--type", "bf16", "--out", model}), kFailure, {model, "is there already"});
  expect_refusal(run_heed({"convert", model, "--out", folder.string()}), kFailure,
                 {folder.string(), "is there already"});
  expect_refusal(run_heed({"convert", folder.string(), "--out", out}), kFailure, {"is not a model folder"});
  expect_refusal(run_heed({"convert", model, "--type", "int4", "--out", out}), kWrongUsage,
                 {"--type", "f32, bf16, f16, int8", "int4"});
  expect_refusal(run_heed({"convert", model}), kWrongUsage, {"--out"});
  const std::string bytes = (folder / "bytes").string();
  output_of({"convert", model, "--type", "int8", "--out", bytes});
  expect_refusal(run_heed({"convert", bytes, "--type", "bf16", "--out", out}), kFailure,
                 {"model.safetensors: ", "is i8 already", "f32 model"});
  expect_refusal(run_heed({"convert", model, "--out", out}, {.largest_file = 1000}), kFailure, {"cannot write"});
  EXPECT_EQ(files_in(folder).size(), 1u);
}

TEST(CliConvert, TrainingDoesNotGoOnInAConvertedFolder) {
  const std::string model = converted(scratch_folder(), "bf16");
  expect_refusal(
      run_heed({"train", "--source", corpus_file("train.de"), "--target", corpus_file("train.en"), "--valid-source",
                corpus_file("valid.de"), "--valid-target", corpus_file("valid.en"), "--out", model}),
      kFailure, {"is there already, and is not of a training run"});
}

}  // namespace
}  // namespace heed
