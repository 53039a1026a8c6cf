#include "heed/tasks/convert.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/fields.h"
#include "heed/kernels/tile_products.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/saved_parameters.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/perplexity.h"
#include "heed/tasks/score.h"
#include "heed/tasks/translate.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using testing::refusal;
using testing::same_bits;

const std::vector<std::string> kLetterLines{"a b c d e f", "f e d", "c a", "b b b d e"};

class ConvertTest : public testing::ScratchTest {
 protected:
  // A folder of a model of this configuration, whose parameters are what they were drawn as.
  std::filesystem::path write_model(const std::string& name, ModelConfig config) const {
    const std::filesystem::path made = folder_ / name;
    make_folder(made);
    const WhitespaceVocabulary words = WhitespaceVocabulary::build(kLetterLines);
    config.set_vocabularies(words.size(), words.size());
    DrawnParameters drawn(Rng(3));
    make_model(drawn, config);
    save_parameters(made / "model.safetensors", drawn.list());
    save_vocabularies(made, words, words);
    save_model_config(made, config);
    return made;
  }
  static ModelConfig small_transformer() {
    ModelConfig config;
    TransformerConfig& transformer = config.transformer;
    transformer.width = 16, transformer.ffn_width = 24, transformer.heads = 2, transformer.max_length = 40;
    transformer.encoder_layers = 1, transformer.decoder_layers = 2;
    return config;
  }
  std::vector<std::pair<std::string, ModelConfig>> models() const {
    std::vector<std::pair<std::string, ModelConfig>> all;
    all.emplace_back("tied", small_transformer());
    ModelConfig config = small_transformer();
    config.transformer.share_embeddings = config.transformer.tie_output = false;
    config.transformer.positions = PositionKind::learned;
    config.transformer.attention = AttentionChoice("relative + sinks");
    all.emplace_back("untied", config);
    config = small_transformer();
    config.transformer.encoder_layers = 0;
    all.emplace_back("language-model", config);
    for (RnnConfig rnn : {bahdanau_config(), luong_config()}) {
      config.kind = ModelKind::rnn;
      rnn.embedding_width = rnn.state_width = rnn.attention_width = 12;
      config.rnn = rnn;
      all.emplace_back(enum_name(rnn.style), config);
    }
    return all;
  }
};

// The bits of the widened twin; products of int8 in whole numbers, where the processor has them, round otherwise, and
// so do those of bf16 by AMX's tiles.
void expect_same_answers(const std::vector<double>& numbers, const std::vector<double>& of_twin, Precision type) {
  ASSERT_EQ(numbers.size(), of_twin.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool in_tiles = type == Precision::bf16 && kernels::has_tile_products(kernels::TileNumbers::bf16);
    const double factor = type == Precision::int8 || in_tiles ? 2e-5 : 0;
    const double tolerance = factor * std::max(1.0, std::abs(of_twin[i]));
    EXPECT_NEAR(numbers[i], of_twin[i], tolerance) << i;
  }
}

// What a model says about the lines, in numbers.
std::vector<double> answers(const ModelFolder& model) {
  std::vector<double> numbers;
  const auto add = [&](const std::vector<double>& more) { numbers.insert(numbers.end(), more.begin(), more.end()); };
  if (model.model->has_source()) {
    Translator translator(model);
    for (const auto& best : translator.translate(kLetterLines, {.beam = 3})) {
      for (const Translation& translation : best) add(translation.token_scores);
    }
    for (const TokenScores& scores : score_translations(model, kLetterLines, kLetterLines))
      add(scores.log_probabilities);
  } else {
    for (const Generated& text : generate(model, kLetterLines, {.max_tokens = 8})) add(text.token_scores);
    for (const TokenScores& scores : score_documents(model, kLetterLines)) add(scores.log_probabilities);
    add({measure_perplexity(model, kLetterLines).nats});
  }
  return numbers;
}

TEST_F(ConvertTest, AModelAnswersAsItsWidenedTwinToTheBitButForInt8) {
  for (const auto& [name, config] : models()) {
    const std::filesystem::path model = write_model(name, config);
    const std::vector<double> of_f32 = answers(load_model_folder(model));
    EXPECT_FALSE(of_f32.empty());
    for (Precision type : {Precision::bf16, Precision::f16, Precision::int8}) {
      SCOPED_TRACE(name + " in " + std::string(enum_name(type)));
      const std::filesystem::path narrow = folder_ / (name + "-" + std::string(enum_name(type)));
      const std::filesystem::path wide = narrow.string() + "-f32";
      convert_model(model, {type}, narrow);
      convert_model(narrow, {Precision::f32}, wide);
      const std::vector<double> numbers = answers(load_model_folder(narrow));
      expect_same_answers(numbers, answers(load_model_folder(wide)), type);
      EXPECT_NE(numbers, of_f32);
      EXPECT_LT(std::filesystem::file_size(narrow / "model.safetensors"),
                std::filesystem::file_size(model / "model.safetensors"));
      for (const NamedParameter& parameter : load_model_folder(wide).parameters) {
        EXPECT_EQ(parameter.var.dtype(), DType::f32) << parameter.name;
      }
    }
  }
}

TEST_F(ConvertTest, OnlyWeightsChangeAndAllOtherFilesOfTheModelAreTheSame) {
  const std::filesystem::path model = write_model("model", models()[1].second), out = folder_ / "out";
  make_folder(model / "training");
  write_file(model / "training" / "state.safetensors", "state");
  write_file(model / "metrics.jsonl", "{}\n");
  convert_model(model, {Precision::int8}, out);
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files_in(out)) names.push_back(file.filename());
  EXPECT_EQ(names, (std::vector<std::string>{"config.json", "model.safetensors", "vocabulary.vocab.txt"}));
  for (const char* file : {"config.json", "vocabulary.vocab.txt"}) {
    EXPECT_EQ(read_file(out / file), read_file(model / file));
  }
  const auto before = read_safetensors(model / "model.safetensors"),
             after = read_safetensors(out / "model.safetensors");
  for (const auto& [name, tensor] : before) {
    const bool weight = tensor.rank() == 2 && name.find("positions") == std::string::npos &&
                        name.find("relative_bias") == std::string::npos;
    EXPECT_EQ(after.at(name).dtype(), weight ? DType::i8 : DType::f32) << name;
    EXPECT_EQ(after.contains(scales_of(name)), weight) << name;
    EXPECT_TRUE(weight || same_bits(after.at(name).view(), tensor.view())) << name;
  }
}

TEST_F(ConvertTest, SixteenBitsAreTheNearest) {
  const std::filesystem::path model = write_model("model", models()[0].second);
  const auto before = read_safetensors(model / "model.safetensors");
  const Tensor weight = before.at("embedding.weight");
  convert_model(model, {Precision::bf16}, folder_ / "bf16");
  convert_model(model, {Precision::f16}, folder_ / "f16");
  const Tensor bf16 = read_safetensors(folder_ / "bf16" / "model.safetensors").at("embedding.weight");
  const Tensor f16 = read_safetensors(folder_ / "f16" / "model.safetensors").at("embedding.weight");
  for (Index i = 0; i < weight.size(); ++i) {
    EXPECT_EQ(bf16.data<BFloat16>()[i], to_bfloat16(weight.data<float>()[i]));
    EXPECT_EQ(f16.data<Float16>()[i], to_float16(weight.data<float>()[i]));
  }
}

TEST_F(ConvertTest, ToItsOwnTypeAModelIsCopiedByteForByte) {
  const std::filesystem::path model = write_model("model", models()[0].second);
  for (const auto& [name, type] : kPrecisionNames) {
    const std::filesystem::path once = folder_ / name, twice = folder_ / (std::string(name) + "-again");
    convert_model(model, {type}, once);
    convert_model(once, {type}, twice);
    EXPECT_EQ(read_file(once / "model.safetensors"), read_file(twice / "model.safetensors")) << name;
  }
  EXPECT_EQ(read_file(folder_ / "f32" / "model.safetensors"), read_file(model / "model.safetensors"));
}

TEST_F(ConvertTest, NothingIsRoundedTwice) {
  const std::filesystem::path model = write_model("model", models()[0].second), bytes = folder_ / "bytes";
  convert_model(model, {Precision::int8}, bytes);
  EXPECT_EQ(refusal([&] { convert_model(bytes, {Precision::bf16}, folder_ / "out"); }),
            (bytes / "model.safetensors").string() +
                ": embedding.weight: is i8 already, and would be rounded twice: convert the f32 model that it was made "
                "of");
  EXPECT_FALSE(file_exists(folder_ / "out"));
}

// The bytes of a block are i8 by their type, and are no weights of int8.
TEST_F(ConvertTest, WeightsInBlocksBecomeInt8ByWayOfTheirNumbers) {
  const Tensor bytes = Tensor::zeros(DType::i8, {2, 34});
  for (Index row = 0; row < 2; ++row) {
    bytes.at<std::int8_t>({row, 1}) = 0x38;  // behind a scale of 0.5: f16, little endian
    for (Index i = 0; i < 32; ++i) bytes.at<std::int8_t>({row, 2 + i}) = static_cast<std::int8_t>(7 * i - 100 + row);
  }
  const Var blocks = Var::narrow(bytes, {}, BlockType::q8_0);
  const std::vector<ParameterShape> shapes{{"w", {2, 32}, true}};
  const Var made = with_weights({{"w", blocks}}, shapes, Precision::int8, "model.gguf").front().var;
  EXPECT_EQ(made.blocks(), BlockType::none);
  const Var from_numbers =
      with_weights({{"w", Var::parameter(widened(blocks))}}, shapes, Precision::int8, "").front().var;
  EXPECT_TRUE(same_bits(made.value(), from_numbers.value()));
  EXPECT_TRUE(same_bits(made.scales(), from_numbers.scales()));
  EXPECT_EQ(widened(blocks).at<float>({1, 31}), 0.5f * 118);
}

TEST_F(ConvertTest, AWeightThatTheTypeCannotHoldIsNamed) {
  const std::filesystem::path model = write_model("model", models()[0].second);
  auto tensors = read_safetensors(model / "model.safetensors");
  tensors["embedding.weight"].at<float>({0, 2}) = 70000;
  write_safetensors(model / "model.safetensors", {tensors.begin(), tensors.end()});
  EXPECT_EQ(refusal([&] { convert_model(model, {Precision::f16}, folder_ / "out"); }),
            (model / "model.safetensors").string() +
                ": embedding.weight: as f16: every element must be finite, but element 2 is inf");
  convert_model(model, {Precision::bf16}, folder_ / "out");
}

TEST_F(ConvertTest, NothingIsLeftWhereTheModelOrTheFolderIsRefused) {
  const std::filesystem::path model = write_model("model", models()[0].second);
  EXPECT_EQ(refusal([&] { convert_model(model, {}, model); }), model.string() + ": is there already");
  EXPECT_EQ(refusal([&] { convert_model(model, {}, model / "config.json" / "out"); }),
            (model / "config.json").string() + ": is not a folder");
  EXPECT_NE(refusal([&] { convert_model(folder_ / "none", {}, folder_ / "out"); }), "no error");
  EXPECT_EQ(files_in(folder_).size(), 1u);
}

// --- Others' models --------------------------------------------------------------------------------------------------

// A tokenizer.json of so many pieces, the words of kLetterLines among them.
std::string word_tokenizer(Index pieces) {
  std::vector<Json::Member> ids;
  for (const char* piece : {"<unk>", "<s>", "</s>", "a", "b", "c", "d", "e", "f"})
    ids.emplace_back(piece, std::ssize(ids));
  while (std::ssize(ids) < pieces) ids.emplace_back("w" + std::to_string(ids.size()), std::ssize(ids));
  return Json::object(
             {{"pre_tokenizer", Json::object({{"type", "WhitespaceSplit"}})},
              {"model", Json::object({{"type", "WordLevel"}, {"unk_token", "<unk>"}, {"vocab", Json::object(ids)}})}})
      .dump();
}

// Models of Hugging Face's, CTranslate2's and GGUF's formats: language models, translators and an encoder. Those that
// come without a tokenizer are linked into folders that have one.
std::vector<std::filesystem::path> models_of_others(const std::filesystem::path& models,
                                                    const std::filesystem::path& scratch) {
  std::vector<std::filesystem::path> paths;
  for (const char* name :
       {"t5-tiny-d8", "bloom-tiny", "aren-transliteration", "pytorch-encoder-decoder", "bert-tiny-classifier"}) {
    paths.push_back(models / name);
  }
  const auto link = [&](const std::string& name, const std::string& from, const std::vector<std::string>& files) {
    make_folder(scratch / name);
    const Index pieces = read_json(models / from / "config.json")["vocab_size"].integer();
    write_file(scratch / name / "tokenizer.json", word_tokenizer(pieces));
    for (const std::string& file : files) {
      std::filesystem::create_symlink(models / from / file, scratch / name / file);
    }
    paths.push_back(scratch / name);
  };
  link("gpt2", "gpt2-tiny-random", {"config.json", "model.safetensors"});
  link("llama", "llama-stories260k-hf", {"config.json", "model.safetensors"});
  link("gguf", "llama-stories260k-hf", {"stories260K.gguf"});
  return paths;
}

std::vector<double> answers_of_any(const ModelFolder& model) {
  if (model.config.transformer.has_decoder()) return answers(model);
  Workspace workspace;
  std::vector<double> numbers;
  const auto& encoder = dynamic_cast<const Transformer&>(*model.model);
  for (const std::string& line : kLetterLines) {
    const TokenBatch batch =
        make_token_batch(std::vector<std::vector<int>>{model.source_ids(line)}, model.source_symbols);
    const Tensor states = encoder.encode(Context::inference(workspace), batch).value();
    numbers.insert(numbers.end(), states.data<float>(), states.data<float>() + states.size());
  }
  return numbers;
}

TEST_F(ConvertTest, WhatProgressThrowsAtAnyMomentLeavesNothing) {
  const std::filesystem::path model = write_model("model", small_transformer());
  Index told = 0;
  convert_model(model, {}, folder_ / "whole", [&](Index) { ++told; });
  for (Index moment = 0; moment < told; ++moment) {
    Index left = moment;
    EXPECT_EQ(
        refusal([&] { convert_model(model, {}, folder_ / "out", [&](Index) { HEED_CHECK(left-- > 0, "stopped"); }); }),
        "stopped");
    EXPECT_EQ(files_in(folder_).size(), 2u) << moment;
  }
}

TEST_F(ConvertTest, AnothersModelBecomesHeedsOwnWithTheSameAnswers) {
  HEED_DATA_OR_SKIP(models, "models");
  for (const std::filesystem::path& path : models_of_others(models, folder_ / "linked")) {
    SCOPED_TRACE(path.string());
    const std::filesystem::path own = folder_ / path.stem();
    convert_model(path, {Precision::f32}, own);
    const ModelFolder before = load_model_folder(path), after = load_model_folder(own);
    EXPECT_EQ(to_json(before.config), to_json(after.config));
    EXPECT_EQ(to_json(static_cast<const TextCodec&>(before)), to_json(static_cast<const TextCodec&>(after)));
    EXPECT_EQ(before.source_symbols, after.source_symbols);
    EXPECT_EQ(before.target_symbols, after.target_symbols);
    EXPECT_EQ(before.source_vocabulary == before.target_vocabulary, after.source_vocabulary == after.target_vocabulary);
    for (const std::string& line : kLetterLines) {
      EXPECT_EQ(before.source_ids(line), after.source_ids(line));
      EXPECT_EQ(before.target_ids(line), after.target_ids(line));
      EXPECT_EQ(before.source_vocabulary->encode_special(line, line),
                after.source_vocabulary->encode_special(line, line));
    }
    const std::vector<double> numbers = answers_of_any(after);
    EXPECT_FALSE(numbers.empty());
    EXPECT_EQ(answers_of_any(before), numbers);
    const std::filesystem::path again = own.string() + "-again";
    convert_model(own, {Precision::f32}, again);
    for (const std::filesystem::path& file : files_in(own)) {
      EXPECT_EQ(read_file(file), read_file(again / file.filename())) << file;
    }
  }
}

TEST_F(ConvertTest, AnothersModelInASmallTypeAnswersAsItsWidenedTwin) {
  HEED_DATA_OR_SKIP(models, "models");
  for (const std::filesystem::path& path : models_of_others(models, folder_ / "linked")) {
    for (Precision type : {Precision::bf16, Precision::int8}) {
      SCOPED_TRACE(path.string() + " in " + std::string(enum_name(type)));
      const std::filesystem::path own = folder_ / path.stem();
      const std::filesystem::path narrow = own.string() + "-" + std::string(enum_name(type));
      const std::filesystem::path wide = narrow.string() + "-f32";
      convert_model(path, {type}, narrow);
      convert_model(narrow, {Precision::f32}, wide);
      const std::vector<double> numbers = answers_of_any(load_model_folder(narrow));
      expect_same_answers(numbers, answers_of_any(load_model_folder(wide)), type);
      EXPECT_NE(numbers, answers_of_any(load_model_folder(path)));
    }
  }
}

TEST_F(ConvertTest, AFolderOfAnothersModelIsDistrusted) {
  HEED_DATA_OR_SKIP(models, "models");
  const std::filesystem::path own = folder_ / "own";
  convert_model(models / "bloom-tiny", {Precision::f32}, own);
  const std::string config = read_file(own / "config.json");
  const auto with = [&](const std::string& text, const std::string& other) {
    std::string changed = config;
    changed.replace(changed.find(text), text.size(), other);
    write_file(own / "config.json", changed);
    return refusal([&] { load_model_folder(own); });
  };
  const std::string begin = config.substr(config.find("\"begin\""), 8);
  EXPECT_NE(with(begin, "\"first\"").find("config.json"), std::string::npos);
  EXPECT_NE(with("\"ends\"", "\"end\"").find("config.json"), std::string::npos);
  write_file(own / "config.json", config);
  EXPECT_EQ(refusal([&] { load_model_folder(own); }), "no error");
}

}  // namespace
}  // namespace heed
