#include "heed/pretrained/fit_to_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/io/open_checkpoint.h"
#include "heed/io/safetensors.h"

namespace heed {
namespace {

// What is made of a decoder without tied output whose file has these tensors, of which the names alone count.
TransformerConfig fitted(const std::vector<std::string>& tensors, const std::string& architecture = "",
                         bool may_lack_norms = false) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) /
                                     (std::string("heed_fit_to_file_") +
                                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".safetensors");
  const Tensor number = Tensor::zeros(DType::f32, {1});
  std::map<std::string, ConstView> views;
  for (const std::string& tensor : tensors) views.emplace(tensor, number.view());
  write_safetensors(file, views);
  FamilyModel model;
  model.config.encoder_layers = may_lack_norms ? 1 : 0;
  model.config.norm_place = may_lack_norms ? NormPlace::pre : NormPlace::post;
  model.may_lack_final_norms = may_lack_norms;
  model.config.tie_output = false;
  model.config.output_bias = true;
  model.rules = {{"generator", {"lm_head"}}, {"decoder", {"stack"}}, {"encoder", {"source"}}};
  model.heads.emplace().architecture = architecture;
  fit_to_file(model, open_checkpoint(file));
  return model.config;
}

TEST(FitToFile, AFileOfTheStacksAloneHasNoOutput) {
  EXPECT_FALSE(fitted({"stack.layers.0.weight"}).has_output);
  EXPECT_TRUE(fitted({"lm_head.weight"}).has_output);
  EXPECT_FALSE(fitted({"stack.layers.0.weight"}, "LlamaModel").has_output);
  EXPECT_TRUE(fitted({"stack.layers.0.weight"}, "LlamaForCausalLM").has_output) << "which the file lacks, an error";
}

TEST(FitToFile, AnOutputHasABiasWhereTheFileHasOne) {
  EXPECT_FALSE(fitted({"lm_head.weight"}).output_bias);
  EXPECT_TRUE(fitted({"lm_head.weight", "lm_head.bias"}).output_bias);
}

TEST(FitToFile, ANormBehindTheLastLayerCounts) {
  EXPECT_EQ(fitted({"lm_head.weight"}).final_norm, FinalNorm::automatic);
  EXPECT_EQ(fitted({"lm_head.weight", "stack.norm.weight"}).final_norm, FinalNorm::always);
}

TEST(FitToFile, NormsThatMayBeLackingAreThereWhereTheFileHasThem) {
  const auto norm_of = [](const std::vector<std::string>& tensors) {
    return fitted(tensors, "", /*may_lack_norms=*/true).final_norm;
  };
  EXPECT_EQ(norm_of({"lm_head.weight"}), FinalNorm::never);
  EXPECT_EQ(norm_of({"lm_head.weight", "stack.norm.weight"}), FinalNorm::decoder);
  EXPECT_EQ(norm_of({"lm_head.weight", "source.norm.weight"}), FinalNorm::encoder);
  EXPECT_EQ(norm_of({"lm_head.weight", "source.norm.weight", "stack.norm.weight"}), FinalNorm::automatic);
}

}  // namespace
}  // namespace heed
