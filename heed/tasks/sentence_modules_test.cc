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
  EXPECT_EQ(modules.pool, pool);
  EXPECT_EQ(modules.normalise, normalise);
  EXPECT_TRUE(modules.dense.empty());
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
    ASSERT_EQ(modules.dense.size(), 1U);
    EXPECT_TRUE(modules.normalise);
    const Tensor made = modules.dense[0].apply(vectors);
    ASSERT_EQ(describe(made.view()), "f32 [2, 3]");
    const double rows[2][3] = {{0.5, 0.25, -0.5}, {1.5, 3, 4}};  // x weight^T + bias
    for (Index i = 0; i < 6; ++i)
      EXPECT_NEAR(static_cast<double>(made.data<float>()[i]), std::tanh(rows[i / 3][i % 3]), 1e-6) << i;
    EXPECT_NE(testing::refusal([&] {
                modules.dense[0].apply(made);
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
  EXPECT_EQ(read_sentence_modules(folder_).dense.size(), 1U);
  const Tensor flat = Tensor::from(std::vector<float>{1, 2}, {2}),
               square = Tensor::from(std::vector<float>{1, 2}, {1, 2});
  const fs::path weights = folder_ / "2_Dense" / "model.safetensors";
  write_safetensors(weights, {{"linear.weight", flat.view()}});
  EXPECT_NE(refusal().find("linear.weight must be [outputs, inputs], but is f32 [2]"), std::string::npos) << refusal();
  write_safetensors(weights, {{"linear.weight", square.view()}, {"linear.bias", flat.view()}});
  EXPECT_NE(refusal().find("linear.bias must be [1], but is f32 [2]"), std::string::npos) << refusal();
  remove_file(weights);
  EXPECT_NE(refusal().find("2_Dense"), std::string::npos) << refusal();
  write_dense("{}");
  write(kPooling + R"(, {"type": "x.Normalize", "path": "3_Normalize"}, )" + dense + "]", pooling);
  EXPECT_NE(refusal().find("[3].type: must come before Normalize"), std::string::npos) << refusal();
}

TEST_F(SentenceModulesTest, WhatHeedHasNotIsRefused) {
  write(kPooling + R"(, {"type": "sentence_transformers.models.LSTM", "path": "2_LSTM"}])",
        R"({"pooling_mode_cls_token": true})");
  EXPECT_NE(refusal().find("modules.json: [2].type: must be Transformer, Pooling, Dense or Normalize"),
            std::string::npos)
      << refusal();
  write(kPooling + "]", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})");
  EXPECT_NE(refusal().find("pooling_mode_mean_tokens: is a second way to pool"), std::string::npos) << refusal();
  write(kPooling + "]", R"({"pooling_mode_weightedmean_tokens": true})");
  EXPECT_NE(refusal().find("is a way to pool that heed has not"), std::string::npos) << refusal();
  write(kPooling + "]", R"({"pooling_mode_mean_tokens": true, "include_prompt": false})");
  EXPECT_NE(refusal().find("include_prompt: heed has models with true alone"), std::string::npos) << refusal();
  write(kPooling + "]", R"({"pooling_mode_mean_tokens": false})");
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
