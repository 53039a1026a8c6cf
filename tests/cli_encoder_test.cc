// heed embed, fill and classify, of BERT models as Hugging Face keeps them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/io/npy.h"
#include "heed/io/safetensors.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/gradient_check.h"
#include "trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::run_heed;
using testing::scratch_folder;

constexpr Index kWords = 12, kWidth = 8, kNetwork = 10;

// A folder of a model of one layer of this architecture, of random numbers.
fs::path bert(const fs::path& folder, const std::string& architecture) {
  make_folder(folder);
  write_file(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\ndog\nruns\nsmall\nand\n.\n");
  Json config = Json::object({{"model_type", "bert"},
                              {"architectures", Json::array_of(std::vector<std::string>{architecture})},
                              {"vocab_size", kWords},
                              {"hidden_size", kWidth},
                              {"num_attention_heads", 2},
                              {"num_hidden_layers", 1},
                              {"intermediate_size", kNetwork},
                              {"max_position_embeddings", 16}});
  config.set("id2label", Json::object({{"0", "bad"}, {"1", "good"}}));
  write_json(folder / "config.json", config);
  std::map<std::string, Tensor> tensors;
  std::uint64_t seed = 0;
  const auto add = [&](const std::string& name, std::initializer_list<Index> shape) {
    tensors[name] = testing::random_tensor(DType::f32, shape, ++seed, 0.5);
  };
  const auto linear = [&](const std::string& name, Index outputs, Index inputs) {
    add(name + ".weight", {outputs, inputs});
    add(name + ".bias", {outputs});
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {kWidth});
    add(name + ".bias", {kWidth});
  };
  const std::string embeddings = "bert.embeddings.", layer = "bert.encoder.layer.0.";
  add(embeddings + "word_embeddings.weight", {kWords, kWidth});
  add(embeddings + "position_embeddings.weight", {16, kWidth});
  add(embeddings + "token_type_embeddings.weight", {2, kWidth});
  norm(embeddings + "LayerNorm");
  for (const char* part : {"query", "key", "value"}) linear(layer + "attention.self." + part, kWidth, kWidth);
  linear(layer + "attention.output.dense", kWidth, kWidth);
  norm(layer + "attention.output.LayerNorm");
  linear(layer + "intermediate.dense", kNetwork, kWidth);
  linear(layer + "output.dense", kWidth, kNetwork);
  norm(layer + "output.LayerNorm");
  linear("bert.pooler.dense", kWidth, kWidth);
  linear("classifier", 2, kWidth);
  linear("cls.predictions.transform.dense", kWidth, kWidth);
  norm("cls.predictions.transform.LayerNorm");
  add("cls.predictions.bias", {kWords});
  std::map<std::string, ConstView> views;
  for (const auto& [name, tensor] : tensors) views.emplace(name, tensor.view());
  write_safetensors(folder / "model.safetensors", views);
  return folder;
}

TEST(CliEncoder, EmbedWritesARowALineAndSaysHowAlikeLinesAre) {
  const fs::path folder = scratch_folder(), model = bert(folder / "model", "BertModel"), out = folder / "out.npy";
  const CommandResult result = run_heed({"embed", model.string(), "--out", out.string(), "--cosine"},
                                        {.input = "the dog runs\nthe dog runs\na small dog\n"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const Tensor vectors = read_npy(out);
  ASSERT_EQ(describe(vectors.view()), "f32 [3, 8]");
  EXPECT_TRUE(testing::same_bits(vectors.rows(0, 1).view(), vectors.rows(1, 2).view()));
  const std::vector<std::string> cosines = split_text_lines(result.output, "output");
  ASSERT_EQ(cosines.size(), 2U);
  EXPECT_EQ(cosines[0], "1.000000");
  EXPECT_LT(std::stod(cosines[1]), 1);
  const CommandResult pairs =
      run_heed({"embed", model.string(), "--cosine"}, {.input = "the dog runs\ta small dog\na\ta\n"});
  EXPECT_EQ(pairs.output, cosines[1] + "\n1.000000\n") << pairs.error;
  const auto of_layer = [&](const std::string& layer) {
    const CommandResult made = run_heed({"embed", model.string(), "--out", out.string(), "--layer", layer},
                                        {.input = "the dog runs\nthe dog runs\na small dog\n"});
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return read_npy(out);
  };
  EXPECT_TRUE(testing::same_bits(of_layer("-1").view(), vectors.view()));
  EXPECT_FALSE(testing::same_bits(of_layer("0").view(), vectors.view()));
}

// What sentence-transformers keeps beside a model.
TEST(CliEncoder, EmbedPoolsAsTheFolderSays) {
  const fs::path folder = scratch_folder(), model = bert(folder / "model", "BertModel"), out = folder / "out.npy";
  const auto vectors_of = [&](const fs::path& of, const std::vector<std::string>& options) {
    std::vector<std::string> all{"embed", of.string(), "--out", out.string()};
    all.insert(all.end(), options.begin(), options.end());
    const CommandResult made = run_heed(all, {.input = "the dog runs\na small dog\n"});
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return read_npy(out);
  };
  const Tensor first = vectors_of(model, {"--pool", "first", "--normalise"}), mean = vectors_of(model, {});
  double square = 0;
  for (Index i = 0; i < first.dim(1); ++i) square += std::pow(static_cast<double>(first.at<float>({0, i})), 2);
  EXPECT_NEAR(square, 1, 1e-6);
  write_file(model / "modules.json", R"([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  fs::create_directory(model / "1_Pooling");
  write_file(model / "1_Pooling" / "config.json",
             R"({"word_embedding_dimension": 8, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  EXPECT_TRUE(testing::same_bits(vectors_of(model, {}).view(), first.view()));
  EXPECT_TRUE(testing::same_bits(vectors_of(model, {"--pool", "mean"}).view(), mean.view()));
  testing::output_of({"convert", model.string(), "--type", "f32", "--out", (folder / "kept").string()});
  EXPECT_TRUE(testing::same_bits(vectors_of(folder / "kept", {}).view(), first.view()));

  write_file(model / "1_Pooling" / "config.json", R"({"pooling_mode_best_tokens": true})");
  expect_refusal(run_heed({"embed", model.string(), "--cosine"}, {.input = "the dog\n"}), kFailure,
                 {"1_Pooling/config.json: pooling_mode_best_tokens: is a way to pool that heed has not"});
}

// As sentence-transformers once wrote folders: the model in one of its own.
TEST(CliEncoder, EmbedFindsTheModelWhereTheFolderSays) {
  const fs::path folder = scratch_folder(), plain = bert(folder / "plain", "BertModel"), model = folder / "model";
  make_folder(model / "1_Pooling");
  fs::copy(plain, model / "0_BERT", fs::copy_options::recursive);
  write_file(model / "modules.json", R"([{"path": "0_BERT", "type": "sentence_transformers.models.BERT"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  write_file(model / "1_Pooling" / "config.json", R"({"pooling_mode": ["cls", "lasttoken"]})");
  testing::output_of({"convert", model.string(), "--type", "f32", "--out", (folder / "kept").string()});
  const auto vectors_of = [&](const fs::path& of, const std::vector<std::string>& options) {
    std::vector<std::string> all{"embed", of.string(), "--out", (folder / "out.npy").string()};
    all.insert(all.end(), options.begin(), options.end());
    testing::output_of(all, {.input = "the dog runs\n"});
    return read_npy(folder / "out.npy");
  };
  const Tensor first = vectors_of(plain, {"--pool", "first"}), last = vectors_of(plain, {"--pool", "last"});
  for (const fs::path& of : {model, folder / "kept"}) {
    const Tensor both = vectors_of(of, {});
    ASSERT_EQ(both.dim(1), 2 * kWidth);
    for (Index i = 0; i < kWidth; ++i) {
      EXPECT_EQ(both.at<float>({0, i}), first.at<float>({0, i}));
      EXPECT_EQ(both.at<float>({0, kWidth + i}), last.at<float>({0, i}));
    }
  }
  EXPECT_NE(testing::output_of({"info", model.string()}).find("turns text into vectors"), std::string::npos);
}

// A layer behind the pooled vectors, texts that are cut, and prompts.
TEST(CliEncoder, EmbedReadsTextsAndMakesVectorsAsTheFolderSays) {
  const fs::path folder = scratch_folder(), plain = bert(folder / "plain", "BertModel"), model = folder / "model",
                 out = folder / "out.npy";
  fs::copy(plain, model, fs::copy_options::recursive);
  const auto vector_of = [&](const fs::path& of, const std::string& text, const std::vector<std::string>& options) {
    std::vector<std::string> all{"embed", of.string(), "--out", out.string()};
    all.insert(all.end(), options.begin(), options.end());
    const CommandResult made = run_heed(all, {.input = text + "\n"});
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return read_npy(out);
  };
  write_file(model / "modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])");
  for (const char* part : {"1_Pooling", "2_Dense"}) make_folder(model / part);
  write_file(model / "1_Pooling" / "config.json", R"({"pooling_mode_mean_tokens": true})");
  write_file(model / "2_Dense" / "config.json", R"({"activation_function": "torch.nn.modules.linear.Identity"})");
  const Tensor weight = Tensor::from(std::vector<float>{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1}, {2, kWidth});
  write_safetensors(model / "2_Dense" / "model.safetensors", {{"linear.weight", weight.view()}});
  write_file(model / "sentence_bert_config.json", R"({"max_seq_length": 5, "do_lower_case": false})");
  write_file(model / "config_sentence_transformers.json",
             R"({"prompts": {"query": "a small ", "plain": ""}, "default_prompt_name": null})");
  testing::output_of({"convert", model.string(), "--type", "f32", "--out", (folder / "kept").string()});
  for (const fs::path& of : {model, folder / "kept"}) {
    const Tensor whole = vector_of(plain, "a small dog", {}), made = vector_of(of, "a small dog", {});
    ASSERT_EQ(describe(made.view()), "f32 [1, 2]");
    EXPECT_EQ(made.data<float>()[0], 2 * whole.data<float>()[0]);
    EXPECT_EQ(made.data<float>()[1], -whole.data<float>()[7]);
    EXPECT_TRUE(testing::same_bits(vector_of(of, "dog", {"--prompt", "query"}).view(), made.view()));
    EXPECT_TRUE(testing::same_bits(vector_of(of, "a small dog runs and runs", {"--cut"}).view(), made.view()));
    expect_refusal(run_heed({"embed", of.string(), "--cosine"}, {.input = "a small dog runs\n"}), kFailure,
                   {"standard input:1: has 6 tokens, and its folder says at most 5"});
    expect_refusal(run_heed({"embed", of.string(), "--cosine", "--prompt", "question"}, {.input = "dog\n"}), kFailure,
                   {"no prompt \"question\", but plain, query"});
  }
}

// Its configuration names the model that it was made of.
TEST(CliEncoder, InfoTellsTheHeadsThatAFileHasLost) {
  const fs::path model = bert(scratch_folder() / "model", "BertModel");
  Json config = read_json(model / "config.json");
  Json architectures = Json::array();
  architectures.append("BertForNextSentencePrediction");
  config.set("architectures", architectures);
  write_json(model / "config.json", config);
  EXPECT_NE(testing::output_of({"info", model.string()})
                .find("heads       without those of a BertForNextSentencePrediction that its file has nothing of"),
            std::string::npos);
  EXPECT_NE(testing::output_of({"info", model.string(), "--json"}).find(R"("lost_heads": "BertForNext)"),
            std::string::npos);
  expect_refusal(run_heed({"classify", model.string()}, {.input = "the dog\n"}), kFailure,
                 {"tells the class of nothing: it turns text into vectors (embed)"});
}

TEST(CliEncoder, EmbedRefusesWhatMakesNoSense) {
  const fs::path folder = scratch_folder(), model = bert(folder / "model", "BertModel");
  expect_refusal(run_heed({"embed", model.string()}, {.input = "the dog\n"}), kWrongUsage, {"--out or --cosine"});
  expect_refusal(run_heed({"embed", model.string(), "--cosine"}, {.input = "the dog\ta dog\nthe dog\n"}), kFailure,
                 {"standard input:2: has no tab"});
  expect_refusal(run_heed({"embed", model.string(), "--cosine", "--pool", "best"}), kWrongUsage, {"--pool"});
  expect_refusal(run_heed({"embed", model.string(), "--out", (model / "config.json").string()}, {.input = "a\n"}),
                 kWrongUsage, {"--out"});
  expect_refusal(run_heed({"embed", model.string(), "--cosine", "--layer", "9"}, {.input = "the dog\n"}), kFailure,
                 {"and none of number 9"});
  expect_refusal(run_heed({"embed", model.string(), "--cosine", "--layer", "0.5"}), kWrongUsage,
                 {"--layer: must be an integer"});
  std::string long_line;
  for (int i = 0; i < 15; ++i) long_line += "dog ";
  expect_refusal(run_heed({"embed", model.string(), "--cosine"}, {.input = long_line}), kFailure,
                 {"standard input:1: has 17 tokens, and the model can hold 16"});
}

TEST(CliEncoder, FillPrintsTheLikeliestWordsOfEachMask) {
  const fs::path model = bert(scratch_folder() / "model", "BertForMaskedLM");
  const std::vector<std::string> command{"fill", model.string(), "--candidates", "3"};
  const CommandResult result = run_heed(command, {.input = "the [MASK] runs\n[MASK] and [MASK]\n"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const std::vector<std::string> rows = split_text_lines(result.output, "output");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0].starts_with("1\t"));
  EXPECT_TRUE(rows[1].starts_with("2\t"));
  EXPECT_TRUE(rows[2].starts_with("2\t"));
  const CommandResult json =
      run_heed({"fill", model.string(), "--candidates", "3", "--json"}, {.input = "the [MASK] runs\n"});
  const Json mask = Json::parse(json.output);
  EXPECT_EQ(mask["line"].integer(), 1);
  EXPECT_EQ(mask["position"].integer(), 2);
  ASSERT_EQ(mask["candidates"].size(), 3);
  const Json best = mask["candidates"][Index{0}];
  EXPECT_TRUE(rows[0].starts_with("1\t" + best["token"].string() + " ")) << rows[0];
  EXPECT_GE(best["probability"].number(), mask["candidates"][Index{1}]["probability"].number());
  expect_refusal(run_heed(command, {.input = "the dog\n"}), kFailure, {"standard input:1: has no [MASK]"});
}

TEST(CliEncoder, ClassifyPrintsTheLabelAndItsProbability) {
  const fs::path folder = scratch_folder(), model = bert(folder / "texts", "BertForSequenceClassification");
  const CommandResult result = run_heed({"classify", model.string()}, {.input = "the dog runs\nthe dog\ta dog\n"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const std::vector<std::string> rows = split_text_lines(result.output, "output");
  ASSERT_EQ(rows.size(), 2U);
  const CommandResult json = run_heed({"classify", model.string(), "--json"}, {.input = "the dog runs\n"});
  const Json line = Json::parse(json.output);
  const double bad = line["probabilities"]["bad"].number(), good = line["probabilities"]["good"].number();
  EXPECT_NEAR(bad + good, 1, 1e-6);
  EXPECT_EQ(line["label"].string(), bad < good ? "good" : "bad");
  EXPECT_TRUE(rows[0].starts_with(line["label"].string() + "\t" + line["label"].string() + " 0.")) << rows[0];

  const fs::path tokens = bert(folder / "tokens", "BertForTokenClassification");
  const CommandResult labelled = run_heed({"classify", tokens.string()}, {.input = "the dog runs\n"});
  EXPECT_TRUE(labelled.output.starts_with("the ")) << labelled.output << labelled.error;
  EXPECT_EQ(std::ranges::count(labelled.output, '\t'), 2);
  expect_refusal(run_heed({"classify", bert(folder / "none", "BertModel").string()}, {.input = "a\n"}), kFailure,
                 {"none: tells the class of nothing: it turns text into vectors (embed)"});
}

TEST(CliEncoder, ACommandThatAnEncoderIsNotForNamesItAndWhatItIsFor) {
  const fs::path folder = scratch_folder(), model = bert(folder / "model", "BertForMaskedLM");
  const std::string text = (folder / "text").string(), purpose = "guesses masked words (fill)";
  write_file(text, "the dog\n");
  EXPECT_NE(run_heed({"info", model.string()}).output.find(purpose), std::string::npos);
  EXPECT_EQ(Json::parse(run_heed({"info", model.string(), "--json"}).output)["purpose"].string(),
            purpose + ", turns text into vectors (embed)");
  const std::vector<std::string> commands[] = {
      {"translate", model.string(), "--input", text},
      {"generate", model.string(), "--prompt", "the"},
      {"score", model.string(), "--text", text},
      {"score", model.string(), "--source", text, "--target", text},
      {"evaluate", "--model", model.string(), "--source", text, "--reference", text},
      {"align", model.string(), "--source", text, "--target", text},
      {"transcribe", model.string(), text},
  };
  for (const std::vector<std::string>& command : commands) {
    expect_refusal(run_heed(command), kFailure, {model.string() + ": ", ": it " + purpose});
  }
}

TEST(CliEncoder, AModelThatHasLostItsTokenizerIsStillDescribed) {
  const fs::path model = bert(scratch_folder() / "model", "BertModel");
  remove_file(model / "vocab.txt");
  const CommandResult info = run_heed({"info", model.string()});
  EXPECT_NE(info.output.find("vocabulary  none: there is no tokenizer beside its weights"), std::string::npos)
      << info.error;
  expect_refusal(run_heed({"embed", model.string(), "--cosine"}, {.input = "a\n"}), kFailure,
                 {model.string() + ": has no tokenizer"});
}

// The probabilities of the stated logits of a real file, from its text on.
TEST(CliEncoder, ClassifyGivesTheStatedClassesOfText) {
  HEED_DATA_OR_SKIP(model, "models/bert-tiny-classifier");
  const Json cases = read_json(model / "cases.json");
  int checked = 0;
  for (const Json& item : cases["cases"].items()) {
    if (!item.has("text")) continue;
    ++checked;
    const Tensor logits = read_npy(model / item["expect"]["logits"].string());
    const double difference =
        static_cast<double>(logits.data<float>()[1]) - static_cast<double>(logits.data<float>()[0]);
    const CommandResult result =
        run_heed({"classify", model.string(), "--json"}, {.input = item["text"].string() + "\n"});
    const Json line = Json::parse(result.output);
    EXPECT_NEAR(line["probabilities"]["LABEL_1"].number(), 1 / (1 + std::exp(-difference)), 1e-6) << result.error;
  }
  EXPECT_EQ(checked, 2);
}

}  // namespace
}  // namespace heed
