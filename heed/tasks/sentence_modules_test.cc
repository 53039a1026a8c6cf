#include "heed/tasks/sentence_modules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/safetensors.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class SentenceModulesTest : public testing::ScratchTest {
 protected:
  void SetUp() override { make_folder(folder_ / "pool"); }

  void write(const std::string& modules, const std::string& pooling) {
    write_file(folder_ / "modules.json", modules);
    write_file(folder_ / "pool" / "config.json", pooling);
  }
  std::string refusal() {
    return testing::refusal([&] { read_sentence_modules(folder_); });
  }

  void write_dense(const std::string& config) {
    make_folder(folder_ / "2_Dense");
    write_file(folder_ / "2_Dense" / "config.json", config);
    const Tensor weight = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}),
                 bias = Tensor::from(std::vector<float>{0.5f, 0, -1}, {3});
    write_safetensors(folder_ / "2_Dense" / "model.safetensors",
                      {{"linear.weight", weight.view()}, {"linear.bias", bias.view()}});
  }

  static inline const std::string kPooling =
      R"([{"type": "sentence_transformers.models.Transformer", "path": ""}, {"type": "x.Pooling", "path": "pool"})";
};

void expect_modules(const fs::path& folder, Pool pool, bool normalise) {
  const SentenceModules modules = read_sentence_modules(folder);
  EXPECT_EQ(modules.pools, std::vector<Pool>{pool});
  EXPECT_EQ(modules.normalise, normalise);
  EXPECT_TRUE(modules.layers.empty());
}

TEST_F(SentenceModulesTest, AreReadAndKept) {
  expect_modules(folder_, Pool::mean, false);
  expect_modules({}, Pool::mean, false);
  write(kPooling + "]",
        R"({"pooling_mode_lasttoken": true, "pooling_mode_mean_tokens": false, "include_prompt": true})");
  expect_modules(folder_, Pool::last, false);
  expect_modules(folder_ / "modules.json", Pool::mean, false);  // a file has none beside it
  write(kPooling + R"(, {"type": "x.Normalize", "path": "2_Normalize"}])", R"({"pooling_mode_cls_token": true})");
  expect_modules(folder_, Pool::first, true);
  make_folder(folder_ / "kept");
  copy_sentence_modules(folder_, folder_ / "kept");
  expect_modules(folder_ / "kept", Pool::first, true);
  make_folder(folder_ / "nothing");
  copy_sentence_modules(folder_ / "nothing", folder_ / "kept");
}

TEST_F(SentenceModulesTest, LayersAreReadKeptAndApplied) {
  write(kPooling + R"(, {"type": "x.Dense", "path": "2_Dense"}, {"type": "x.Normalize", "path": "3_Normalize"}])",
        R"({"pooling_mode_mean_tokens": true})");
  write_dense(R"({"in_features": 2, "out_features": 3, "bias": true,
                  "activation_function": "torch.nn.modules.activation.Tanh"})");
  make_folder(folder_ / "kept");
  copy_sentence_modules(folder_, folder_ / "kept");
  const Tensor vectors = Tensor::from(std::vector<float>{0.25f, -0.125f, 1, 0}, {2, 2});
  for (const fs::path& folder : {folder_, folder_ / "kept"}) {
    const SentenceModules modules = read_sentence_modules(folder);
    ASSERT_EQ(modules.layers.size(), 1U);
    EXPECT_TRUE(modules.normalise);
    const Tensor made = modules.layers[0]->apply(vectors);
    ASSERT_EQ(describe(made.view()), "f32 [2, 3]");
    const double rows[2][3] = {{0.5, 0.25, -0.5}, {1.5, 3, 4}};  // x weight^T + bias
    for (Index i = 0; i < 6; ++i)
      EXPECT_NEAR(static_cast<double>(made.data<float>()[i]), std::tanh(rows[i / 3][i % 3]), 1e-6) << i;
    EXPECT_NE(testing::refusal([&] {
                modules.layers[0]->apply(made);
              }).find("2_Dense: takes vectors of 2 numbers, but those before it are of 3"),
              std::string::npos);
  }
}

TEST_F(SentenceModulesTest, ALayerThatHeedHasNotIsRefused) {
  const std::string pooling = R"({"pooling_mode_mean_tokens": true})",
                    dense = R"({"type": "x.Dense", "path": "2_Dense"})";
  write(kPooling + ", " + dense + "]", pooling);
  write_dense(R"({"activation_function": "torch.nn.modules.activation.Hardtanh"})");
  EXPECT_NE(refusal().find("activation_function: is an activation that heed has not"), std::string::npos) << refusal();
  write_dense(R"({"module_input_name": "token_embeddings"})");
  EXPECT_NE(refusal().find("module_input_name: must be sentence_embedding"), std::string::npos) << refusal();
  write_dense("{}");
  EXPECT_EQ(read_sentence_modules(folder_).layers.size(), 1U);
  const Tensor flat = Tensor::from(std::vector<float>{1, 2}, {2}),
               square = Tensor::from(std::vector<float>{1, 2}, {1, 2});
  const fs::path weights = folder_ / "2_Dense" / "model.safetensors";
  write_safetensors(weights, {{"linear.weight", flat.view()}});
  EXPECT_NE(refusal().find("linear.weight must be [outputs, inputs], but is f32 [2]"), std::string::npos) << refusal();
  write_safetensors(weights, {{"linear.weight", square.view()}, {"linear.bias", flat.view()}});
  EXPECT_NE(refusal().find("linear.bias must be [1], but is f32 [2]"), std::string::npos) << refusal();
  remove_file(weights);
  EXPECT_NE(refusal().find("2_Dense"), std::string::npos) << refusal();
}

TEST_F(SentenceModulesTest, ALayersActivationIsTanhWhereItIsNotSaidAndItsInputMayBeAdded) {
  write(kPooling + R"(, {"type": "x.Dense", "path": "2_Dense"}])", R"({"pooling_mode": "mean"})");
  const Tensor vectors = Tensor::from(std::vector<float>{0.25f, -0.125f}, {1, 2});
  const auto made = [&] { return read_sentence_modules(folder_).layers[0]->apply(vectors); };
  write_dense("{}");
  const double rows[] = {0.5, 0.25, -0.5};  // x weight^T + bias
  for (Index i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(made().data<float>()[i]), std::tanh(rows[i]), 1e-6) << i;
  write_dense(R"({"activation_function": "torch.nn.modules.activation.LeakyReLU"})");
  EXPECT_NEAR(made().at<float>({0, 2}), -0.005, 1e-6);
  write_dense(R"({"use_residual": true})");
  EXPECT_NE(testing::refusal(made).find("residual.weight"), std::string::npos);
  const Tensor weight = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}),
               residual = Tensor::from(std::vector<float>{8, 0, 0, 8, 8, 8}, {3, 2}),
               square = Tensor::from(std::vector<float>{2, 0, 0, 2}, {2, 2});
  const fs::path weights = folder_ / "2_Dense" / "model.safetensors";
  write_safetensors(weights, {{"linear.weight", weight.view()}, {"residual.weight", residual.view()}});
  const double plain[] = {0, 0.25, 0.5}, added[] = {2, -1, 1};
  for (Index i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(made().data<float>()[i]), std::tanh(plain[i]) + added[i], 1e-6) << i;
  write_safetensors(weights, {{"linear.weight", weight.view()}, {"residual.weight", square.view()}});
  EXPECT_NE(testing::refusal(made).find("residual.weight must be [3, 2]"), std::string::npos);
  write_safetensors(weights, {{"linear.weight", square.view()}});
  EXPECT_NEAR(made().at<float>({0, 1}), std::tanh(-0.25) - 0.125, 1e-6);
}

TEST_F(SentenceModulesTest, LayersMayFollowInAnyOrder) {
  write(kPooling + R"(, {"type": "x.Normalize", "path": "2"}, {"type": "x.Dropout", "path": "3"},
                       {"type": "x.LayerNorm", "path": "norm"}, {"type": "x.Normalize", "path": "5"}])",
        R"({"pooling_mode": "cls"})");
  make_folder(folder_ / "norm");
  write_file(folder_ / "norm" / "config.json", R"({"dimension": 2})");
  const Tensor gamma = Tensor::from(std::vector<float>{3, 3}, {2}), beta = Tensor::from(std::vector<float>{1, 1}, {2});
  write_safetensors(folder_ / "norm" / "model.safetensors",
                    {{"norm.weight", gamma.view()}, {"norm.bias", beta.view()}});
  make_folder(folder_ / "kept");
  copy_sentence_modules(folder_, folder_ / "kept");
  for (const fs::path& folder : {folder_, folder_ / "kept"}) {
    const SentenceModules modules = read_sentence_modules(folder);
    ASSERT_EQ(modules.layers.size(), 2U);
    EXPECT_TRUE(modules.normalise);
    const Tensor one = modules.layers[0]->apply(Tensor::from(std::vector<float>{6, 8}, {1, 2}));
    EXPECT_EQ(one.at<float>({0, 0}), 0.6f);
    const Tensor normed = modules.layers[1]->apply(one);
    const double deviation = std::sqrt(0.01 + 1e-5);
    EXPECT_NEAR(normed.at<float>({0, 0}), 1 - 3 * 0.1 / deviation, 1e-5);
    EXPECT_NEAR(normed.at<float>({0, 1}), 1 + 3 * 0.1 / deviation, 1e-5);
  }
}

TEST_F(SentenceModulesTest, SeveralWaysToPoolLieSideBySide) {
  const auto pools = [&](const std::string& config) {
    write(kPooling + "]", config);
    return read_sentence_modules(folder_).pools;
  };
  EXPECT_EQ(pools(R"({"pooling_mode": "weightedmean", "embedding_dimension": 8, "include_prompt": true})"),
            std::vector<Pool>{Pool::weighted});
  EXPECT_EQ(pools(R"({"pooling_mode": ["mean", "cls", "mean_sqrt_len_tokens", "max", "lasttoken"]})"),
            (std::vector<Pool>{Pool::mean, Pool::first, Pool::mean_sqrt, Pool::max, Pool::last}));
  EXPECT_EQ(pools(R"({"pooling_mode_mean_tokens": true, "pooling_mode_lasttoken": true,
                      "pooling_mode_cls_token": true, "pooling_mode_max_tokens": true,
                      "pooling_mode_weightedmean_tokens": true, "pooling_mode_mean_sqrt_len_tokens": true})"),
            (std::vector<Pool>{Pool::first, Pool::max, Pool::mean, Pool::mean_sqrt, Pool::weighted, Pool::last}));
  EXPECT_EQ(pools(R"({"pooling_mode_mean_tokens": false})"), std::vector<Pool>{Pool::mean});
}

TEST_F(SentenceModulesTest, SayWhereTheWeightsAre) {
  EXPECT_EQ(weights_of_sentence_folder(folder_), folder_);
  EXPECT_EQ(weights_of_sentence_folder(folder_ / "model.gguf"), folder_ / "model.gguf");
  write(R"([{"type": "sentence_transformers.models.BERT", "path": "0_BERT"}, {"type": "x.Pooling", "path": "pool"}])",
        "{}");
  EXPECT_EQ(weights_of_sentence_folder(folder_), folder_ / "0_BERT");
  expect_modules(folder_, Pool::mean, false);
  write_file(folder_ / "config.json", "{}");  // as heed keeps it
  EXPECT_EQ(weights_of_sentence_folder(folder_), folder_);
}

TEST_F(SentenceModulesTest, WhatHeedHasNotIsRefused) {
  write(kPooling + R"(, {"type": "sentence_transformers.models.LSTM", "path": "2_LSTM"}])",
        R"({"pooling_mode_cls_token": true})");
  EXPECT_NE(refusal().find("modules.json: [2].type: must be Transformer, Pooling, Dense, LayerNorm, Normalize"),
            std::string::npos)
      << refusal();
  for (const char* pooling : {R"({"pooling_mode_best_tokens": true})", R"({"pooling_mode": "best"})",
                              R"({"pooling_mode": ["cls", "best"]})"}) {
    write(kPooling + "]", pooling);
    EXPECT_NE(refusal().find("is a way to pool that heed has not"), std::string::npos) << refusal();
  }
  write(kPooling + "]", R"({"pooling_mode_mean_tokens": true, "include_prompt": false})");
  EXPECT_NE(refusal().find("include_prompt: heed has models with true alone"), std::string::npos) << refusal();
  write(kPooling + "]", R"({"pooling_mode": []})");
  EXPECT_NE(refusal().find("must say how to pool"), std::string::npos) << refusal();
  for (const char* path : {"..", "../pool", "/pool", "a/b"}) {
    write(R"([{"type": "x.Pooling", "path": ")" + std::string(path) + R"("}])", "{}");
    EXPECT_NE(refusal().find("[0].path: must be the name of a folder"), std::string::npos) << refusal();
    EXPECT_NE(testing::refusal([&] { copy_sentence_modules(folder_, folder_ / "pool"); }).find("must be the name"),
              std::string::npos);
  }
  write("{}", "{}");
  EXPECT_NE(refusal().find("modules.json"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace heed
