#include "heed/layers/parameter_scope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/layers/drawn_parameters.h"
#include "heed/layers/linear.h"
#include "heed/layers/listed_parameters.h"
#include "heed/layers/multihead_attention.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

TEST(ParameterScope, AParameterIsCalledByThePathAndItsName) {
  ListedParameters listed;
  const ParameterScope scope = listed, layer = scope / "encoder" / "layers" / 3;
  EXPECT_EQ(scope.path(), "");
  EXPECT_EQ(layer.path(), "encoder.layers.3");
  layer.matrix("weight", 4, 5, Initial::constant(0));
  scope.vector("bias", 6, Initial::constant(0));
  (layer / "self_attn").tensor("bias_k", {1, 1, 7}, Initial::constant(0));
  const std::vector<ParameterShape> expected{
      {"encoder.layers.3.weight", {4, 5}}, {"bias", {6}}, {"encoder.layers.3.self_attn.bias_k", {1, 1, 7}}};
  EXPECT_EQ(listed.shapes(), expected);
}

TEST(ParameterScope, TwoParametersOfOneNameAreRefused) {
  DrawnParameters drawn(Rng(1));
  const Linear first(ParameterScope(drawn) / "linear", 2, 3);
  EXPECT_EQ(refusal([&] { const Linear second(ParameterScope(drawn) / "linear", 2, 3); }),
            "ParameterScope: there is a parameter linear.weight already");
}

TEST(ParameterScope, NegativeExtentsAreRefusedEvenWhereNothingIsMadeOfThem) {
  ListedParameters listed;
  EXPECT_EQ(refusal([&] { const Linear linear(listed, 2, -3); }),
            "ParameterScope: weight must not have negative extents, but is to be [-3, 2]");
}

TEST(ParameterScope, AWeightThatIsNoMatrixIsRefused) {
  ListedParameters listed;
  EXPECT_EQ(refusal([&] {
              listed.bind({"weight", {2, 3, 4}, /*is_weight=*/true}, Initial::constant(0));
            }),
            "ParameterScope: weight is a weight and must be a matrix, but is [2, 3, 4]");
}

TEST(ParameterScope, WhatIsOnlyListedIsNeitherMadeNorComputed) {
  ListedParameters listed;
  const ParameterScope scope = listed;
  const Index most = Index{1} << 40;
  EXPECT_TRUE(scope.matrix("weight", most, most, Initial::normal(1)).empty());
  EXPECT_TRUE(scope.computed([] { return Tensor::zeros(DType::f32, {3}); }).is_empty());
  EXPECT_TRUE(listed.list().empty());
  DrawnParameters drawn(Rng(1));
  EXPECT_EQ(ParameterScope(drawn).computed([] { return Tensor::zeros(DType::f32, {3}); }).size(), 3);
}

TEST(DrawnParameters, EachElementTakesOneDrawInTheOrderOfBinding) {
  DrawnParameters drawn(Rng(5, 1));
  const ParameterScope scope = drawn;
  scope.matrix("a", 2, 3, Initial::uniform(0.5));
  scope.vector("b", 4, Initial::constant(7));
  scope.vector("c", 2, Initial::normal(2));
  Rng rng(5, 1);
  const auto value = [&](std::size_t i, Index element) { return drawn.list()[i].var.value().data<float>()[element]; };
  for (Index i = 0; i < 6; ++i) EXPECT_EQ(value(0, i), static_cast<float>((2 * rng.uniform() - 1) * 0.5));
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(value(1, i), 7);
  for (Index i = 0; i < 2; ++i) EXPECT_EQ(value(2, i), static_cast<float>(rng.normal() * 2));
}

// PyTorch's MultiheadAttention draws the output projection's bias before it sets it to zero, and so did heed from its
// first model on: what is drawn behind it must not move.
TEST(DrawnParameters, AnAttentionLayersOutputBiasIsZeroAndTakesItsDraws) {
  DrawnParameters drawn(Rng(1));
  const MultiheadAttention attention(ParameterScope(drawn) / "a", AttentionKind::encoder,
                                     {.embed_dim = 4, .num_heads = 2});
  const Linear linear(ParameterScope(drawn) / "b", 3, 2);
  const Var bias = drawn.list()[3].var, next = drawn.list()[4].var;
  ASSERT_EQ(drawn.list()[3].name, "a.out_proj.bias");
  for (Index i = 0; i < 4; ++i) {
    EXPECT_EQ(bias.value().data<float>()[i], 0);
    EXPECT_FALSE(std::signbit(bias.value().data<float>()[i]));
  }
  Rng behind(1, 0, 12 * 4 + 4 * 4 + 4);
  EXPECT_EQ(next.value().data<float>()[0], static_cast<float>((2 * behind.uniform() - 1) * std::sqrt(6.0 / 5)));
}

}  // namespace
}  // namespace heed
