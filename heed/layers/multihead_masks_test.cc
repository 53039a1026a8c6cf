// The masks that a call of multi-head attention is given: what each leaves out and adds, against the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/layers/cross_layer_test.h"
#include "heed/layers/multihead_attention.h"
#include "heed/layers/multihead_definition_test.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::Added;
using testing::CrossLayer;
using testing::kLeftOut;
using testing::kTolerance;
using testing::random_booleans;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using Options = MultiheadAttentionOptions;

class Masks : public ::testing::Test {
 protected:
  static constexpr Index kBatch = 2, kHeads = 2, kQueries = 3, kKeys = 5;
  static Options options() { return {.embed_dim = 6, .num_heads = kHeads, .add_bias_kv = true, .add_zero_attn = true}; }
  double difference(const AttentionArguments& arguments, const Added& added) {
    double worst = 0;
    for (const Options& o : {options(), Options{.embed_dim = 6, .num_heads = kHeads}}) {
      CrossLayer layer(o);
      worst = std::max(worst, testing::difference(layer, q_, k_, v_, arguments, added));
    }
    return worst;
  }

  Tensor q_ = random_tensor(DType::f32, {kBatch, kQueries, 6}, 1);
  Tensor k_ = random_tensor(DType::f32, {kBatch, kKeys, 6}, 2);
  Tensor v_ = random_tensor(DType::f32, {kBatch, kKeys, 6}, 3);
  Rng draw_{5};
};

TEST_F(Masks, ATrueLeavesAKeyOut) {
  const Tensor two = random_booleans({kQueries, kKeys}, draw_);
  EXPECT_LT(difference({.attn_mask = two},
                       [&](Index, Index, Index i, Index j) {
                         return two.at<bool>({i, j}) ? kLeftOut : 0;
                       }),
            kTolerance);
  const Tensor three = random_booleans({kBatch * kHeads, kQueries, kKeys}, draw_);
  EXPECT_LT(difference({.attn_mask = three},
                       [&](Index b, Index h, Index i, Index j) {
                         return three.at<bool>({b * kHeads + h, i, j}) ? kLeftOut : 0;
                       }),
            kTolerance);
}

TEST_F(Masks, AFloatIsAddedAndMinusInfinityLeavesAKeyOut) {
  const Tensor two = random_tensor(DType::f32, {kQueries, kKeys}, 8);
  two.at<float>({1, 2}) = two.at<float>({0, 0}) = -std::numeric_limits<float>::infinity();
  EXPECT_LT(difference({.attn_mask = two},
                       [&](Index, Index, Index i, Index j) {
                         return two.at<float>({i, j});
                       }),
            kTolerance);
  const Tensor three = random_tensor(DType::f32, {kBatch * kHeads, kQueries, kKeys}, 9);
  const Tensor padding = random_tensor(DType::f32, {kBatch, kKeys}, 10);
  padding.at<float>({1, 4}) = -std::numeric_limits<float>::infinity();
  EXPECT_LT(difference({.key_padding_mask = padding, .attn_mask = three},
                       [&](Index b, Index h, Index i, Index j) {
                         return three.at<float>({b * kHeads + h, i, j}) + padding.at<float>({b, j});
                       }),
            kTolerance);
}

TEST_F(Masks, AllThatAreGivenIntersect) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{5, 3}, {kBatch});
  const Tensor padding = random_booleans({kBatch, kKeys}, draw_),
               added = random_tensor(DType::f32, {kQueries, kKeys}, 8);
  const AttentionArguments arguments{.mask = Mask::key_lengths(lengths) & Mask::sliding_window(1, {}, Anchor::start),
                                     .key_padding_mask = padding,
                                     .attn_mask = added,
                                     .is_causal = true};
  const auto out = [&](Index b, Index i, Index j) {
    return j > i || j < i - 1 || j >= lengths.at<std::int32_t>({b}) || padding.at<bool>({b, j});
  };
  EXPECT_LT(difference(arguments,
                       [&](Index b, Index, Index i, Index j) {
                         return out(b, i, j) ? kLeftOut : added.at<float>({i, j});
                       }),
            kTolerance);
}

TEST_F(Masks, CausalCountsFromTheStartWhateverTheLengths) {
  CrossLayer layer({.embed_dim = 6, .num_heads = kHeads});
  const Tensor weights = layer(q_, k_, v_, {.is_causal = true, .need_weights = true}).weights;
  for (Index i = 0; i < kQueries; ++i)
    for (Index j = 0; j < kKeys; ++j) EXPECT_EQ(weights.at<float>({0, i, j}) > 0, j <= i) << i << " " << j;
}

TEST_F(Masks, AQueryWithoutKeysGetsTheOutputOfZero) {
  CrossLayer layer({.embed_dim = 6, .num_heads = kHeads});
  const Tensor mask = Tensor::zeros(DType::boolean, {kQueries, kKeys});
  fill(select(mask.view(), 0, 1), 1);
  const Attended attended = layer(q_, k_, v_, {.attn_mask = mask, .need_weights = true});
  EXPECT_TRUE(same_bits(select(select(attended.out.value().view(), 0, 0), 0, 1), layer.parameters["out_proj.bias"]));
  for (Index j = 0; j < kKeys; ++j) EXPECT_EQ(attended.weights.at<float>({1, 1, j}), 0);
}

TEST_F(Masks, OfOtherShapesAndTypesAreRefused) {
  CrossLayer layer({.embed_dim = 6, .num_heads = kHeads});
  const auto refused = [&](const AttentionArguments& arguments) {
    return refusal([&] { layer(q_, k_, v_, arguments); });
  };
  const std::string padding = refused({.key_padding_mask = Tensor::zeros(DType::boolean, {kBatch, kQueries})});
  EXPECT_EQ(
      padding,
      "MultiheadAttention: key_padding_mask [B, Lk] must be boolean or floating and fit B = 2, heads = 2, Lq = 3, "
      "Lk = 5, but is boolean [2, 3]");
  for (const Tensor& mask :
       {Tensor::zeros(DType::boolean, {kKeys, kQueries}), Tensor::zeros(DType::i32, {kQueries, kKeys}),
        Tensor::zeros(DType::boolean, {kBatch, kQueries, kKeys}), Tensor::zeros(DType::f32, {kKeys})}) {
    EXPECT_NE(refused({.attn_mask = mask}).find("attn_mask [Lq, Lk] or [B * heads, Lq, Lk] must be"),
              std::string::npos);
  }
}

TEST(MultiheadAttention, CausalCountsFromTheStartBesideAWindowThatCountsFromTheEnd) {
  CrossLayer layer({.embed_dim = 8, .num_heads = 2, .mask = Mask::sliding_window(1, 1)});
  const Tensor q = random_tensor(DType::f32, {1, 2, 8}, 1), k = random_tensor(DType::f32, {1, 3, 8}, 2);
  const Tensor weights = layer(q, k, k, {.is_causal = true, .need_weights = true}).weights;
  // The queries stand at keys 1 and 2 for the window, and see keys 0 and 0, 1 by the flag.
  const bool seen[2][3] = {{true, false, false}, {false, true, false}};
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(weights.at<float>({0, i, j}) > 0, seen[i][j]) << i << j;
}

}  // namespace
}  // namespace heed
