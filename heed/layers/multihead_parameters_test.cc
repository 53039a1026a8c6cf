// The parameters of multi-head attention: PyTorch's names and shapes, saved and loaded.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "heed/io/safetensors.h"
#include "heed/layers/cross_layer_test.h"
#include "heed/layers/multihead_attention.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::CrossLayer;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using Options = MultiheadAttentionOptions;

std::string shapes(const CrossLayer& layer) {
  std::string text;
  for (const auto& [name, var] : layer.list) text += name + " " + describe(var.value().view()) + "\n";
  return text;
}

TEST(MultiheadAttention, HasPyTorchsStateDict) {
  EXPECT_EQ(shapes(CrossLayer({.embed_dim = 8, .num_heads = 2, .add_bias_kv = true})),
            "in_proj_weight f32 [24, 8]\nin_proj_bias f32 [24]\nbias_k f32 [1, 1, 8]\nbias_v f32 [1, 1, 8]\n"
            "out_proj.weight f32 [8, 8]\nout_proj.bias f32 [8]\n");
  EXPECT_EQ(shapes(CrossLayer({.embed_dim = 8, .num_heads = 2, .kdim = 5, .vdim = 6})),
            "q_proj_weight f32 [8, 8]\nk_proj_weight f32 [8, 5]\nv_proj_weight f32 [8, 6]\nin_proj_bias f32 [24]\n"
            "out_proj.weight f32 [8, 8]\nout_proj.bias f32 [8]\n");
  EXPECT_EQ(shapes(CrossLayer({.embed_dim = 8,
                               .num_heads = 4,
                               .bias = false,
                               .num_kv_heads = 1,
                               .head_dim = 8,
                               .attention = AttentionChoice("sinks")})),
            "in_proj_weight f32 [48, 8]\nsinks f32 [4]\nout_proj.weight f32 [8, 32]\n");
}

TEST(MultiheadAttention, AStateDictComesBackFromSafetensors) {
  const Options options{.embed_dim = 8, .num_heads = 2, .kdim = 5, .vdim = 6, .add_bias_kv = true};
  CrossLayer saved(options, 1), loaded(options, 2);
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "multihead_attention.safetensors";
  std::map<std::string, ConstView> tensors;
  for (const auto& [name, var] : saved.list) tensors[name] = var.value().view();
  write_safetensors(file, tensors, {});
  const std::map<std::string, Tensor> read = read_safetensors(file);
  ASSERT_EQ(read.size(), loaded.list.size());
  for (const auto& [name, var] : loaded.list) var.set_value(read.at(name).view());
  const Tensor q = random_tensor(DType::f32, {2, 3, 8}, 1), k = random_tensor(DType::f32, {2, 4, 5}, 2),
               v = random_tensor(DType::f32, {2, 4, 6}, 3);
  EXPECT_TRUE(same_bits(loaded(q, k, v).out, saved(q, k, v).out));
  EXPECT_NE(refusal([&] { loaded.parameters["k_proj_weight"].set_value(read.at("v_proj_weight").view()); }),
            "no error");
}

}  // namespace
}  // namespace heed
