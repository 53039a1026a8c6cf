// Models of many languages from the command line: T5's weights, with a tokenizer that has tokens for languages.
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
using testing::kWrongUsage;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;

// What NLLB's file says, of two words and three languages.
constexpr const char* kTokenizer = R"({
  "added_tokens": [{"id": 1, "content": "</s>", "special": true}, {"id": 5, "content": "deu_Latn", "special": true},
    {"id": 6, "content": "eng_Latn", "special": true}, {"id": 7, "content": "zho_Hans", "special": true}],
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": {"type": "TemplateProcessing", "pair": [{"Sequence": {"id": "A"}}, {"Sequence": {"id": "B"}}],
    "single": [{"SpecialToken": {"id": "eng_Latn"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "</s>"}}],
    "special_tokens": {"eng_Latn": {"id": "eng_Latn", "ids": [6], "tokens": ["eng_Latn"]},
                       "</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}}},
  "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<pad>": 0, "</s>": 1, "<unk>": 2, "guten": 3,
    "tag": 4, "deu_Latn": 5, "eng_Latn": 6, "zho_Hans": 7}}})";

TEST(CliLanguages, AreChosenReadWrittenScoredListedAndKept) {
  HEED_DATA_OR_SKIP(t5, "models/t5-tiny-d8");
  const std::filesystem::path scratch = scratch_folder();
  const std::string model = (scratch / "many").string(), text = (scratch / "text").string();
  std::filesystem::create_directory(model);
  for (const char* file : {"config.json", "model.safetensors"}) {
    std::filesystem::copy_file(t5 / file, std::filesystem::path(model) / file);
  }
  write_file(std::filesystem::path(model) / "tokenizer.json", kTokenizer);
  write_file(text, "guten tag\n");
  const auto translated = [&](const std::string& of, const std::vector<std::string>& options) {
    std::vector<std::string> all{"translate", of, "--input", text, "--json", "--max-tokens", "5"};
    all.insert(all.end(), options.begin(), options.end());
    return output_of(all);
  };
  const std::vector<std::string> both{"--from-language", "deu_Latn", "--to-language", "zho_Hans"};
  const std::string chinese = translated(model, both);
  EXPECT_EQ(Json::parse(chinese)["translations"][Index{0}]["tokens"][Index{0}].string(), "zho_Hans");
  EXPECT_NE(translated(model, {"--to-language", "zho_Hans"}), chinese) << "the source is said to be English";
  EXPECT_EQ(translated(model, {"--from-language", "eng_Latn"}), translated(model, {}));

  const std::string score =
      output_of({"score", model, "--source", text, "--target", text, "--to-language", "zho_Hans"});
  EXPECT_NE(score.find("\tzho_Hans -"), std::string::npos) << score;
  const Json languages = Json::parse(output_of({"info", model, "--json"}))["languages"];
  EXPECT_EQ(languages.string_list(), (std::vector<std::string>{"deu_Latn", "eng_Latn", "zho_Hans"}));
  expect_refusal(run_heed({"translate", model, "--to-language", "fra_Latn"}), kFailure,
                 {model + ": 'fra_Latn' is none of the model's 3 languages: deu_Latn, eng_Latn, zho_Hans"});

  // Where it would be ignored it is a mistake.
  expect_refusal(run_heed({"evaluate", "--hypothesis", text, "--reference", text, "--to-language", "zho_Hans"}),
                 kWrongUsage, {"--to-language"});
  expect_refusal(run_heed({"view", model, "--image", "x.png", "--to-language", "zho_Hans", "--out", "x.svg"}),
                 kWrongUsage, {"--to-language"});

  const std::string kept = (scratch / "kept").string();
  std::vector<std::string> convert{"convert", model, "--type", "f32", "--out", kept};
  convert.insert(convert.end(), both.begin(), both.end());
  output_of(convert);
  EXPECT_EQ(translated(kept, {}), chinese);
}

}  // namespace
}  // namespace heed
