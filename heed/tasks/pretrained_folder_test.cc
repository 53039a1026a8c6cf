// Models that others trained, in forms of their own (shared/data), through what the commands do.
#include "heed/tasks/pretrained_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "heed/io/npy.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/convert.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/pretrained_vocabulary.h"
#include "heed/tasks/score.h"
#include "heed/tasks/translate.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

std::string joined(const Json& pieces) {
  std::string text;
  for (const Json& piece : pieces.items()) text += (text.empty() ? "" : " ") + piece.string();
  return text;
}

TEST(PretrainedFolder, CTranslate2sTransliterationsHaveTheStatedLogProbabilities) {
  HEED_DATA_OR_SKIP(folder, "models/aren-transliteration");
  const ModelFolder model = load_model_folder(folder);
  const Json stated = read_json(folder / "model.json");
  for (const Json& item : stated["scoring"].items()) {
    const std::vector<std::string> source{joined(item["source"])}, target{joined(item["target"])};
    const TokenScores scores = score_translations(model, source, target)[0];
    const std::vector<double> expected = item["expected_token_log_probs"].number_list();
    ASSERT_EQ(scores.log_probabilities.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(scores.log_probabilities[i], expected[i], item["tolerance"].number()) << source[0] << " " << i;
    }
  }
}

TEST(PretrainedFolder, CTranslate2sTransliterationsAreTheStatedOnes) {
  HEED_DATA_OR_SKIP(folder, "models/aren-transliteration");
  const ModelFolder model = load_model_folder(folder);
  for (const Json& item : read_json(folder / "model.json")["translation"].items()) {
    if (item["prefix"].size() > 0) continue;  // heed translates whole sentences
    const std::vector<std::string> source{joined(item["source"])};
    for (Index beam : {1, 4}) {
      EXPECT_EQ(Translator(model).translate(source, {.beam = beam})[0][0].text, joined(item["expected"]));
    }
  }
}

TEST(PretrainedFolder, AStoryIsTheSameFromEachFormatAndFromItsFolder) {
  HEED_DATA_OR_SKIP(models, "models");
  const Tensor stated = read_npy(models / "stories260K" / "greedy_ids.npy");
  std::vector<std::int32_t> expected;
  for (Index i = 1; i < std::min<Index>(stated.size(), 120); ++i) {
    expected.push_back(stated.dtype() == DType::i64 ? static_cast<std::int32_t>(stated.at<std::int64_t>({i}))
                                                    : stated.at<std::int32_t>({i}));
  }
  for (const char* name : {"stories260K/stories260K.bin", "stories260K", "llama-stories260k-hf/stories260K.gguf"}) {
    const ModelFolder model = load_model_folder(models / name);
    const std::vector<std::string> prompts{""};
    const Generated story =
        generate(model, prompts, {.sampling = {.temperature = 0}, .max_tokens = std::ssize(expected)})[0];
    EXPECT_EQ(story.tokens, expected) << name;
    EXPECT_EQ(story.text.substr(0, 16), "Once upon a time") << name;
  }
}

TEST(PretrainedFolder, CTranslate2sPiecesThatAreNoTextAreNamed) {
  HEED_DATA_OR_SKIP(from, "models/aren-transliteration");
  const auto folder = std::filesystem::path(::testing::TempDir()) / "heed_pieces_that_are_no_text";
  std::filesystem::remove_all(folder);
  std::filesystem::copy(from, folder, std::filesystem::copy_options::recursive);
  write_file(folder / "source_vocabulary.txt", "<unk>\na\xFF\n");
  EXPECT_EQ(refusal([&] { open_vocabularies(folder); }),
            folder.string() + ": the source vocabulary: piece 1 is not valid UTF-8");
}

TEST(PretrainedFolder, CTranslate2sPiecesAreAsManyAsItsRows) {
  HEED_DATA_OR_SKIP(from, "models/aren-transliteration");
  const auto folder = std::filesystem::path(::testing::TempDir()) / "heed_pieces_of_other_rows";
  for (const std::string side : {"source", "target"}) {
    std::filesystem::remove_all(folder);
    std::filesystem::copy(from, folder, std::filesystem::copy_options::recursive);
    const std::filesystem::path pieces = folder / (side + "_vocabulary.txt");
    const std::string all = read_file(pieces);
    write_file(pieces, all.substr(0, all.rfind('\n', all.size() - 2) + 1));
    EXPECT_THAT(refusal([&] { load_model_folder(folder); }),
                ::testing::HasSubstr(folder.string() + ": its " + side + " vocabulary has "));
  }
}

// BLOOM with two tokens more in its vocabulary than its embedding has rows, the second of which pads.
std::filesystem::path more_pieces_than_rows(const std::filesystem::path& models) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "heed_more_pieces_than_rows";
  std::filesystem::remove_all(folder);
  std::filesystem::copy(models / "bloom-tiny", folder, std::filesystem::copy_options::recursive);
  Json tokenizer = read_json(folder / "tokenizer.json");
  const Index rows = describe_pretrained(folder).config.target_vocabulary;
  std::vector<Json> added = tokenizer["added_tokens"].items();
  for (const char* token : {"<more>", "<padding>"}) {
    added.push_back(Json::object({{"id", rows + (token[1] == 'p')}, {"content", token}, {"special", true}}));
  }
  tokenizer.set("added_tokens", Json::array(added));
  write_json(folder / "tokenizer.json", tokenizer);
  write_file(folder / "tokenizer_config.json", R"({"pad_token": "<padding>"})");
  return folder;
}

TEST(PretrainedFolder, TokensBeyondTheEmbeddingAreRefusedWhereATextHasThem) {
  HEED_DATA_OR_SKIP(models, "models");
  const auto path = more_pieces_than_rows(models);
  const ModelFolder model = load_model_folder(path), plain = load_model_folder(models / "bloom-tiny");
  const Index rows = model.config.target_vocabulary();
  EXPECT_EQ(model.target_vocabulary->size(), rows);
  EXPECT_EQ(model.target_symbols.pad, -1);
  const std::vector<std::string> prompts{"a", "the quick brown fox"}, spelled{"a <more>"};
  const GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = 8};
  const auto expected = generate(plain, prompts, options), written = generate(model, prompts, options);
  for (std::size_t i = 0; i < prompts.size(); ++i) EXPECT_EQ(written[i].tokens, expected[i].tokens);
  const std::string refused =
      fmt::format("the text has the token '<more>', whose id is {0}, but the model's embedding has {0} rows", rows);
  EXPECT_THAT(refusal([&] { generate(model, spelled, options); }), ::testing::HasSubstr(refused));
  EXPECT_THAT(refusal([&] { score_documents(model, spelled); }), ::testing::HasSubstr(refused));
  const auto own = path.string() + "_own";
  std::filesystem::remove_all(own);
  convert_model(path, {Precision::f32}, own);
  const ModelFolder converted = load_model_folder(own);
  EXPECT_EQ(generate(converted, prompts, options)[1].tokens, expected[1].tokens);
  EXPECT_THAT(refusal([&] { generate(converted, spelled, options); }), ::testing::HasSubstr(refused));
}

TEST(PretrainedFolder, AModelOfBytesTranslatesAndIsConverted) {
  HEED_DATA_OR_SKIP(models, "models");
  const auto path = std::filesystem::path(::testing::TempDir()) / "heed_byt5", own = path / "own";
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  for (const char* file : {"config.json", "generation_config.json", "model.safetensors"})
    std::filesystem::copy(models / "t5-tiny-d8" / file, path);
  EXPECT_FALSE(has_vocabularies(path));
  write_file(path / "tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})");
  const ModelFolder model = load_model_folder(path);
  const std::vector<std::string> lines{"Grüße", "a b"};
  EXPECT_EQ(model.source_ids(lines[1]), (std::vector<int>{'a' + 3, ' ' + 3, 'b' + 3, 1}));
  convert_model(path, {Precision::f32}, own);
  const ModelFolder converted = load_model_folder(own);
  Translator translator(model), again(converted);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto translation = translator.translate(lines, {.beam = 2})[i][0];
    EXPECT_TRUE(std::ranges::all_of(translation.tokens, [](std::int32_t id) { return id < 384; }));
    EXPECT_EQ(translation.tokens, again.translate(lines, {.beam = 2})[i][0].tokens);
  }
  EXPECT_EQ(score_translations(model, lines, lines)[0].log_probabilities,
            score_translations(converted, lines, lines)[0].log_probabilities);
}

TEST(PretrainedFolder, SaysWhatIsMissing) {
  EXPECT_EQ(testing::refusal([&] { load_model_folder("/nowhere"); }), "/nowhere: No such file or directory");
}

}  // namespace
}  // namespace heed
