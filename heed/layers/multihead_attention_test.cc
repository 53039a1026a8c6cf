// One call of multi-head attention, put in another way: in another layout, of a memory projected before, of keys and
// values repeated, of tokens that stand later, and with its weights seen by an observer.
#include "heed/layers/multihead_attention.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/base/random.h"
#include "heed/layers/cross_layer_test.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::CrossLayer;
using testing::kTolerance;
using testing::largest_difference;
using testing::random_booleans;
using testing::random_tensor;
using testing::same_bits;
using Options = MultiheadAttentionOptions;

TEST(MultiheadAttention, WithoutBatchFirstEverythingIsTransposed) {
  Options options{.embed_dim = 8, .num_heads = 2, .add_zero_attn = true};
  CrossLayer first(options);
  options.batch_first = false;
  CrossLayer second(options);
  const Tensor q = random_tensor(DType::f32, {3, 4, 8}, 1), k = random_tensor(DType::f32, {3, 6, 8}, 2);
  const auto swapped = [](const Tensor& t) { return Tensor::copy_of(transpose(t.view(), 0, 1)); };
  Rng draw(1);
  const AttentionArguments arguments{.key_padding_mask = random_booleans({3, 6}, draw), .need_weights = true};
  const Attended a = first(q, k, k, arguments), b = second(swapped(q), swapped(k), swapped(k), arguments);
  EXPECT_TRUE(same_bits(a.out, swapped(b.out.value())));
  EXPECT_TRUE(same_bits(a.weights, b.weights));
  const Var projected = second.attention.project_memory(second.context(), Var(swapped(k)));
  const Var memory = second.attention.attend_memory(second.context(), Var(swapped(q)), projected, {});
  EXPECT_TRUE(same_bits(swapped(memory.value()), first(q, k, k).out));
}

TEST(MultiheadAttention, AMemoryProjectedOnceGivesTheSameBits) {
  for (Index kdim : {8, 5}) {
    CrossLayer layer(
        {.embed_dim = 8, .num_heads = 4, .kdim = kdim, .vdim = kdim, .add_bias_kv = true, .num_kv_heads = 2});
    const Tensor x = random_tensor(DType::f32, {2, 3, 8}, 1), m = random_tensor(DType::f32, {2, 6, kdim}, 2);
    const Var memory(m);
    const Var whole = layer.attention.forward(layer.context(), Var(x), memory, memory).out;
    const Var projected = layer.attention.project_memory(layer.context(), memory);
    EXPECT_TRUE(same_bits(layer.attention.attend_memory(layer.context(), Var(x), projected, {}), whole));
  }
}

TEST(MultiheadAttention, GroupedHeadsAreRepeatedKeysAndValues) {
  CrossLayer grouped({.embed_dim = 12, .num_heads = 4, .num_kv_heads = 2}), all({.embed_dim = 12, .num_heads = 4});
  const Index d = 3, queries = 12;
  for (const std::string name : {"in_proj_weight", "in_proj_bias"}) {
    const View from = grouped.parameters[name].value(), to = all.parameters[name].value();
    copy(slice(from, 0, 0, queries), slice(to, 0, 0, queries));
    for (Index part = 0; part < 2; ++part)
      for (Index h = 0; h < 4; ++h) {
        const Index source = queries + part * 2 * d + h / 2 * d, target = queries + part * 4 * d + h * d;
        copy(slice(from, 0, source, source + d), slice(to, 0, target, target + d));
      }
  }
  for (const char* name : {"out_proj.weight", "out_proj.bias"})
    all.parameters[name].set_value(grouped.parameters[name]);
  const Tensor x = random_tensor(DType::f32, {2, 5, 12}, 3);
  EXPECT_LT(largest_difference(grouped.self(x), all.self(x)), 1e-6);
}

TEST(MultiheadAttention, RotaryOutputsDependOnDistancesAlone) {
  CrossLayer layer(
      {.embed_dim = 16, .num_heads = 2, .num_kv_heads = 1, .attention = AttentionChoice("rotary(base=30, width=6)")});
  const Index shift = 3, length = 5;
  const Tensor both = random_tensor(DType::f32, {2, shift + length, 16}, 1);
  const Tensor late = Tensor::copy_of(slice(both.view(), 1, shift, shift + length));
  const Tensor before = Tensor::zeros(DType::boolean, {2, shift + length});
  fill(slice(before.view(), 1, 0, shift), 1);
  const Tensor shifted = layer.self(both, {.key_padding_mask = before}), alone = layer.self(late);
  EXPECT_LT(largest_difference(slice(shifted.view(), 1, shift, shift + length), alone), kTolerance);
  // And on them they do: without positions, the order of the keys would not count.
  const Tensor turned = both.clone();
  copy(slice(both.view(), 1, 0, 1), slice(turned.view(), 1, 1, 2));
  copy(slice(both.view(), 1, 1, 2), slice(turned.view(), 1, 0, 1));
  const Tensor last = Tensor::copy_of(slice(layer(both, both, both).out.value().view(), 1, 7, 8));
  EXPECT_GT(largest_difference(slice(layer(both, turned, turned).out.value().view(), 1, 7, 8), last), 1e-3);
}

TEST(MultiheadAttention, AnObserverSeesTheKeysThatWereGiven) {
  struct Last : AttentionObserver {
    bool wants(const AttentionSite& site) const override { return site.path == "attention"; }
    void on_weights(const AttentionSite&, ConstView weights) override { seen = Tensor::copy_of(weights); }
    Tensor seen;
  } last;
  CrossLayer layer({.embed_dim = 8, .num_heads = 2, .add_bias_kv = true, .add_zero_attn = true});
  const Var x(random_tensor(DType::f32, {1, 4, 8}, 4));
  const Attended attended =
      layer.attention.forward(layer.context(&last), x, x, x, {.need_weights = true, .average_attn_weights = false});
  EXPECT_EQ(attended.weights.dim(3), 6);
  EXPECT_TRUE(same_bits(last.seen, slice(attended.weights.view(), 3, 0, 4)));
}

}  // namespace
}  // namespace heed
