// What multi-head attention refuses.
#include <gtest/gtest.h>

#include "heed/layers/cross_layer_test.h"
#include "heed/layers/multihead_attention.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::CrossLayer;
using testing::refusal;
using Options = MultiheadAttentionOptions;

TEST(MultiheadAttention, RefusesOptionsAndInputsThatMakeNoSense) {
  const auto refused = [](const Options& options) { return refusal([&] { CrossLayer layer(options); }) != "no error"; };
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 3}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 0}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 3}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .kdim = -1}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .dropout = 1}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .attention = AttentionChoice("rotary(width=4)")}));
  EXPECT_FALSE(refused({.embed_dim = 8, .num_heads = 3, .head_dim = 4}));
  CrossLayer layer({.embed_dim = 8, .num_heads = 4, .kdim = 5});
  const Tensor eight = Tensor::zeros(DType::f32, {2, 3, 8}), five = Tensor::zeros(DType::f32, {2, 3, 5});
  EXPECT_EQ(refusal([&] { layer(eight, five, eight); }), "no error");
  EXPECT_EQ(refusal([&] { layer(eight, eight, eight); }),
            "MultiheadAttention: needs query, key and value [B, L, E] of E = 8, 5, 8, but they are f32 [2, 3, 8], "
            "f32 [2, 3, 8], f32 [2, 3, 8]");
  EXPECT_NE(refusal([&] { layer.attention.project_memory(layer.context(), Var(five)); }), "no error");
  EXPECT_NE(refusal([&] {
              const auto memory = layer.attention.make_memory(DType::f32);
              memory->admit(2);
              layer.attention.step(layer.context(), Var(eight), *memory);
            }),
            "no error");
}

}  // namespace
}  // namespace heed
