// Multi-head attention agrees with its definition: over PyTorch's own grid, and in every shape of its heads.
#include "heed/layers/multihead_definition_test.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "heed/base/random.h"
#include "heed/io/json.h"
#include "heed/layers/cross_layer_test.h"
#include "heed/layers/multihead_attention.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::Added;
using testing::CrossLayer;
using testing::difference;
using testing::kLeftOut;
using testing::kTolerance;
using testing::largest_difference;
using testing::Plain;
using testing::random_booleans;
using testing::random_tensor;
using Options = MultiheadAttentionOptions;

// --- PyTorch's grid -------------------------------------------------------------------------------------------------

struct Span {
  Index least, most;
  Index draw(Rng& rng) const { return least + rng.below(most - least + 1); }
};

Span span_of(const Json& text) {  // "2..10", "4..10 even"
  long least = 0, most = 0;
  if (std::sscanf(text.string().c_str(), "%ld..%ld", &least, &most) != 2) text.refuse("must be a range");
  return {least, most};
}

TEST(MultiheadAttention, AgreesWithTheDefinitionOverPyTorchsOwnGrid) {
  const Json grid = read_json(testing::tree_data("pytorch/grids.json"))["pytorch"]["mha"];
  const double atol = grid["atol"].number();
  Rng draw(7);
  for (Index round = 0; round < grid["rounds"].integer(1, 1000); ++round) {
    const Index batch = span_of(grid["batch"]).draw(draw), keys = span_of(grid["seq"]).draw(draw);
    const Index width = span_of(grid["head_dim"]).draw(draw), other = span_of(grid["kdim=vdim"]).draw(draw);
    const Index heads = (span_of(grid["heads"]).draw(draw) + 1) / 2 * 2, model = heads * width;
    const Index memory = round % 2 == 0 ? model : other, queries = grid["query_len"].integer(1, 10);
    const Tensor q = random_tensor(DType::f32, {batch, queries, model}, 3 * round);
    const Tensor k = random_tensor(DType::f32, {batch, keys, memory}, 3 * round + 1);
    const Tensor v = random_tensor(DType::f32, {batch, keys, memory}, 3 * round + 2);
    const Tensor padding = random_booleans({batch, keys}, draw);
    const Options none{.embed_dim = model, .num_heads = heads, .kdim = memory, .vdim = memory};
    Options bias_kv = none, zero_attn = none;
    bias_kv.add_bias_kv = zero_attn.add_zero_attn = true;
    const Added padded = [&](Index b, Index, Index, Index j) { return padding.at<bool>({b, j}) ? kLeftOut : 0; };
    for (const Options& options : {none, bias_kv, zero_attn}) {
      CrossLayer layer(options, 100 + round);
      EXPECT_LT(difference(layer, q, k, v, {}, {}), atol) << "round " << round;
      EXPECT_LT(difference(layer, q, k, v, {.key_padding_mask = padding}, padded), atol) << "round " << round;
    }
  }
}

// --- Options against the definition ---------------------------------------------------------------------------------

TEST(MultiheadAttention, AgreesWithTheDefinitionInEveryShapeOfItsHeads) {
  const Options base{.embed_dim = 12, .num_heads = 4};
  const auto with = [&](auto change) {
    Options options = base;
    change(options);
    return options;
  };
  const std::map<std::string, Options> cases{
      {"kdim alone", with([](Options& o) { o.kdim = 5; })},
      {"kdim and vdim", with([](Options& o) { o.kdim = 7, o.vdim = 10; })},
      {"no bias", with([](Options& o) { o.bias = false; })},
      {"no bias, kdim", with([](Options& o) { o.bias = false, o.kdim = 5; })},
      {"grouped", with([](Options& o) { o.num_kv_heads = 2; })},
      {"multi-query", with([](Options& o) { o.num_kv_heads = 1; })},
      {"heads of full width", with([](Options& o) { o.head_dim = 12; })},
      {"one narrow head", with([](Options& o) { o.num_heads = 1, o.head_dim = 3; })},
      {"sinks", with([](Options& o) { o.attention = AttentionChoice("sinks"); })},
      {"both extra keys", with([](Options& o) { o.add_bias_kv = o.add_zero_attn = true; })},
      {"all", with([](Options& o) {
         o.kdim = 5, o.vdim = 9, o.num_kv_heads = 2, o.head_dim = 5;
         o.add_bias_kv = o.add_zero_attn = true, o.attention = AttentionChoice("sinks");
       })}};
  for (const auto& [name, options] : cases) {
    CrossLayer layer(options);
    const Tensor q = random_tensor(DType::f32, {2, 3, 12}, 5);
    const Tensor k = random_tensor(DType::f32, {2, 6, layer.attention.options().kdim}, 6);
    const Tensor v = random_tensor(DType::f32, {2, 6, layer.attention.options().vdim}, 7);
    EXPECT_LT(difference(layer, q, k, v, {}, {}), kTolerance) << name;
    const Added causal = [](Index, Index, Index i, Index j) { return j > i ? kLeftOut : 0; };
    EXPECT_LT(difference(layer, q, k, v, {.is_causal = true}, causal), kTolerance) << name;
  }
}

TEST(MultiheadAttention, ASelfAttentionIsThatOfThreeEqualInputs) {
  for (bool extra : {false, true}) {
    CrossLayer layer({.embed_dim = 12, .num_heads = 4, .add_bias_kv = extra, .num_kv_heads = 2});
    const Tensor x = random_tensor(DType::f32, {2, 5, 12}, 5);
    const Tensor packed = layer.self(x), apart = layer(x, x.clone(), x.clone()).out.value();
    EXPECT_LT(largest_difference(packed, apart), 1e-6);
    EXPECT_LT(largest_difference(packed, Plain(layer)(x, x, x, {}).first), kTolerance);
  }
}

}  // namespace
}  // namespace heed
