// How a model that others trained is decoded: as its folder says, unless the command says otherwise.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "heed/testing/data_folder.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::expect_refusal;
using testing::kFailure;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;

// The model again, with another generation_config.json.
std::string told(const std::filesystem::path& model, const std::filesystem::path& folder,
                 const std::string& generation) {
  std::filesystem::copy(model, folder, std::filesystem::copy_options::recursive);
  write_file(folder / "generation_config.json", generation);
  return folder.string();
}

std::string with(const std::string& command, const std::string& model, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {command, model});
  return output_of(arguments);
}

TEST(CliDecoding, ATranslationIsSearchedForAsTheFolderSays) {
  HEED_DATA_OR_SKIP(t5, "models/t5-tiny-d8");
  const std::filesystem::path scratch = scratch_folder();
  const std::string plain = told(t5, scratch / "plain", "{}");
  const std::string other =
      told(t5, scratch / "other", R"({"num_beams": 3, "length_penalty": 0.5, "no_repeat_ngram_size": 2,
    "min_length": 4, "max_length": 9})");
  const std::string text = (scratch / "text").string();
  write_file(text, "translate English to German: The house is wonderful.\nsummarize: a\n");
  const std::vector<std::string> same{
      "--input", text,           "--beam", "3",     "--length-penalty", "0.5", "--no-repeat-ngram", "2", "--min-tokens",
      "3",       "--max-tokens", "8",      "--json"};
  const std::string expected = with("translate", plain, same);
  EXPECT_EQ(with("translate", other, {"--input", text, "--json"}), expected);
  EXPECT_NE(with("translate", plain, {"--input", text, "--json"}), expected);
  std::vector<std::string> greedy = same;
  greedy[3] = "1";
  EXPECT_EQ(with("translate", other, {"--input", text, "--json", "--beam", "1"}), with("translate", plain, greedy));

  EXPECT_NE(output_of({"info", other}).find(R"("no_repeat_ngram":2)"), std::string::npos);
  const Json decoding = Json::parse(output_of({"info", other, "--json"}))["text"]["decoding"];
  EXPECT_EQ(decoding["search"]["beam"].integer(), 3);

  const std::string converted = (scratch / "converted").string();
  output_of({"convert", other, "--type", "f32", "--out", converted});
  EXPECT_EQ(with("translate", converted, {"--input", text, "--json"}), expected) << "heed's folder keeps it";
}

TEST(CliDecoding, ATextGoesOnAsTheFolderSays) {
  HEED_DATA_OR_SKIP(bloom, "models/bloom-tiny");
  const std::filesystem::path scratch = scratch_folder();
  const std::string plain = told(bloom, scratch / "plain", "{}");
  const std::string greedy = told(bloom, scratch / "greedy", R"({"do_sample": false, "temperature": 0.5})");
  const std::string warm =
      told(bloom, scratch / "warm", R"({"temperature": 0.7, "top_p": 0.8, "no_repeat_ngram_size": 1})");
  const auto text = [](const std::string& model, std::vector<std::string> options) {
    options.insert(options.end(), {"--prompt", "Once upon a time", "--max-tokens", "20"});
    return with("generate", model, options);
  };
  EXPECT_EQ(text(greedy, {}), text(plain, {"--temperature", "0"}));
  EXPECT_NE(text(greedy, {}), text(plain, {}));
  const std::vector<std::string> same{"--temperature", "0.7", "--top-p", "0.8", "--no-repeat-ngram", "1"};
  EXPECT_EQ(text(warm, {}), text(plain, same));
  EXPECT_NE(text(warm, {}), text(warm, {"--no-repeat-ngram", "0"}));
}

TEST(CliDecoding, AContinuationEndsBeforeATextToStopAt) {
  HEED_DATA_OR_SKIP(bloom, "models/bloom-tiny");
  const std::string prompt = "Once upon a time";
  const auto text = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--prompt", prompt, "--max-tokens", "20", "--temperature", "0.9"});
    return with("generate", bloom.string(), options);
  };
  const std::string whole = text({});
  const std::string stop = whole.substr((prompt.size() + whole.size()) / 2, 2);
  const std::string before = whole.substr(0, whole.find(stop, prompt.size()));
  ASSERT_GT(before.size(), prompt.size());
  EXPECT_EQ(text({"--stop", stop}), before + "\n");
  EXPECT_EQ(text({"--stop", "never", "--stop", stop}), before + "\n");
  EXPECT_EQ(text({"--stop", "Once"}), whole) << "the prompt has it";
  const Json json = Json::parse(text({"--stop", stop, "--json"}));
  EXPECT_EQ(json["text"].string(), before);
  EXPECT_LT(json["tokens"].size(), Json::parse(text({"--json"}))["tokens"].size());
  expect_refusal(run_heed({"generate", bloom.string(), "--stop", "a\xFF"}), kFailure,
                 {"stop: byte 2 is not valid UTF-8"});
}

TEST(CliDecoding, ALanguageThatIsNotThereIsRefused) {
  HEED_DATA_OR_SKIP(t5, "models/t5-tiny-d8");
  for (const char* option : {"--from-language", "--to-language"}) {
    expect_refusal(
        run_heed({"translate", t5.string(), option, "deu_Latn"}), kFailure,
        {t5.string() + ": 'deu_Latn' is no language of the model: its vocabulary has no tokens for languages"});
  }
}

TEST(CliDecoding, AFolderThatSaysWhatCannotBeIsRefused) {
  HEED_DATA_OR_SKIP(t5, "models/t5-tiny-d8");
  expect_refusal(run_heed({"translate", told(t5, scratch_folder() / "broken", R"({"num_beams": 0})")}), kFailure,
                 {"generation_config.json: num_beams: must be an integer from 1 to 1000, but is 0"});
}

}  // namespace
}  // namespace heed
