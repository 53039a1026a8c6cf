#include "heed/layers/low_rank.h"

#include <gtest/gtest.h>

#include "heed/autograd/context.h"
#include "heed/autograd/tape.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/transformer_block.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

TransformerBlockOptions block_options(bool separate) {
  return {.width = 8,
          .heads = 2,
          .ffn_width = 12,
          .kv_heads = 1,
          .separate_projections = separate,
          .activation = Activation::gelu,
          .gated = true,
          .cross = true};
}

ParameterList base_of(const TransformerBlockOptions& options, DType dtype = DType::f32) {
  DrawnParameters drawn(Rng(1));
  const TransformerBlock block(drawn, AttentionKind::decoder, options);
  for (const auto& [name, var] : drawn.list()) var.convert(dtype);
  return drawn.list();
}

// Factors of which neither is zero.
ParameterList some_factors(const ParameterList& base, const LowRankOptions& options, DType dtype = DType::f32) {
  const ParameterList factors = draw_factors(base, options, Rng(2));
  std::uint64_t seed = 3;
  for (const auto& [name, var] : factors) {
    var.convert(dtype);
    var.set_value(random_tensor(dtype, {var.dim(0), var.dim(1)}, seed++, 0.3));
  }
  return factors;
}

TransformerBlock block_of(const ParameterList& parameters, const TransformerBlockOptions& options) {
  GivenParameters given(parameters, "test");
  return TransformerBlock(given, AttentionKind::decoder, options);
}

Var run(const TransformerBlock& block, const Context& context, const Var& x, const Var& memory) {
  return block.forward(context, x, {.mask = Mask::causal()}, block.project_memory(context, memory), {});
}

TEST(LowRank, GradientsOfTheFactorsAndOfTheInputAreExact) {
  for (const bool separate : {false, true}) {
    const TransformerBlockOptions shape = block_options(separate);
    const LowRankOptions options{.rank = 2, .alpha = 3, .targets = LowRankTargets::all};
    const ParameterList base = base_of(shape, DType::f64);
    const ParameterList factors = some_factors(base, options, DType::f64);
    // Those of both attentions and of the gated network: 2 + 2 of packed and of cross projections, 3 of the network.
    EXPECT_EQ(factors.size(), separate ? 2u * (4 + 4 + 3) : 2u * (2 + 2 + 3));
    const TransformerBlock block = block_of(adapted(base, factors, options), shape);
    const Var x = Var::parameter(random_tensor(DType::f64, {2, 3, 8}, 20));
    const Var memory = Var::parameter(random_tensor(DType::f64, {2, 4, 8}, 21));
    const Tensor dy = random_tensor(DType::f64, {2, 3, 8}, 22);
    Workspace workspace;
    Tape tape;
    run(block, {.tape = &tape, .workspace = workspace}, x, memory).add_grad(dy);
    tape.backward();
    const auto loss = [&] { return testing::weighted_sum(run(block, Context::inference(workspace), x, memory), dy); };
    for (const auto& [name, var] : factors) {
      ASSERT_TRUE(var.has_grad()) << name;
      EXPECT_LT(gradient_error(loss, var.value(), var.grad()), 1e-6) << name;
    }
    EXPECT_LT(gradient_error(loss, x.value(), x.grad()), 1e-6);
    EXPECT_LT(gradient_error(loss, memory.value(), memory.grad()), 1e-6);
    for (const auto& [name, var] : base) EXPECT_FALSE(var.has_grad()) << name;
  }
}

TEST(LowRank, MergedWeightsAreTheSumAndAnswerAsTheFactorsDo) {
  const TransformerBlockOptions shape = block_options(false);
  const LowRankOptions options{.rank = 3, .alpha = 6, .targets = LowRankTargets::all};
  const ParameterList base = base_of(shape);
  const ParameterList factors = some_factors(base, options);
  const ParameterList sums = merged(base, factors, options);
  for (std::size_t i = 0; i < base.size(); ++i) {
    const std::string& name = base[i].name;
    const Tensor before = base[i].var.value(), after = sums[i].var.value();
    const auto find = [&](const std::string& factor) {
      for (const auto& [found, var] : factors) {
        if (found == name + factor) return var.value();
      }
      return Tensor();
    };
    const Tensor a = find(".lora_A"), b = find(".lora_B");
    if (a.is_empty()) {
      EXPECT_TRUE(same_bits(before.view(), after.view())) << name;
      continue;
    }
    for (Index o = 0; o < before.dim(0); ++o) {
      for (Index in = 0; in < before.dim(1); ++in) {
        double sum = before.at<float>({o, in});
        for (Index r = 0; r < 3; ++r) sum += 2.0 * b.at<float>({o, r}) * a.at<float>({r, in});
        EXPECT_NEAR(after.at<float>({o, in}), sum, 1e-6) << name;
      }
    }
  }
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Var x(random_tensor(DType::f32, {2, 3, 8}, 20)), memory(random_tensor(DType::f32, {2, 4, 8}, 21));
  const Tensor of_factors = run(block_of(adapted(base, factors, options), shape), context, x, memory).value();
  const Tensor of_sums = run(block_of(sums, shape), context, x, memory).value();
  EXPECT_LT(largest_difference(of_factors.view(), of_sums.view()), 1e-5);
  EXPECT_GT(largest_difference(of_factors.view(), run(block_of(base, shape), context, x, memory).value().view()), 1e-2);
}

TEST(LowRank, NewFactorsChangeNothing) {
  const TransformerBlockOptions shape = block_options(false);
  const LowRankOptions options{.rank = 2};
  const ParameterList base = base_of(shape);
  const TransformerBlock begun = block_of(adapted(base, draw_factors(base, options, Rng(5)), options), shape);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Var x(random_tensor(DType::f32, {2, 3, 8}, 20)), memory(random_tensor(DType::f32, {2, 4, 8}, 21));
  EXPECT_EQ(largest_difference(run(begun, context, x, memory).value().view(),
                               run(block_of(base, shape), context, x, memory).value().view()),
            0);
}

TEST(LowRank, TargetsAreThoseThatWereAskedFor) {
  const ParameterList base = base_of(block_options(false));
  const auto names = [&](LowRankTargets targets) {
    std::vector<std::string> all;
    for (const auto& [name, var] : draw_factors(base, {.rank = 1, .targets = targets}, Rng(1))) all.push_back(name);
    return all;
  };
  EXPECT_EQ(names(LowRankTargets::feed_forward),
            (std::vector<std::string>{"linear1.weight.lora_A", "linear1.weight.lora_B", "linear_gate.weight.lora_A",
                                      "linear_gate.weight.lora_B", "linear2.weight.lora_A", "linear2.weight.lora_B"}));
  EXPECT_EQ(names(LowRankTargets::attention).size(), 8u);
  EXPECT_EQ(names(LowRankTargets::all).size(), 14u);
}

TEST(LowRank, TheBaseIsSharedAndNarrowWeightsAreWidened) {
  ParameterList base = base_of(block_options(false));
  const Var wide = base[0].var;
  ASSERT_EQ(wide.rank(), 2);
  base[0].var = Var::narrow(wide.value().to(DType::bf16));
  const ParameterList parameters = adapted(base, draw_factors(base, {.rank = 1}, Rng(1)), {.rank = 1});
  EXPECT_TRUE(same_bits(parameters[0].var.value().view(), base[0].var.value().to(DType::f32).view()));
  for (std::size_t i = 1; i < base.size(); ++i) {
    EXPECT_EQ(parameters[i].var.value().data<float>(), base[i].var.value().data<float>()) << base[i].name;
    EXPECT_FALSE(parameters[i].var.requires_grad());
  }
}

TEST(LowRank, RefusesWhatDoesNotGoTogether) {
  const ParameterList base = base_of(block_options(false));
  EXPECT_EQ(refusal([&] { draw_factors(base, {.rank = 0}, Rng(1)); }),
            "low-rank adaptation: the rank must be at least 1, but is 0");
  EXPECT_NE(refusal([&] { draw_factors(base, {.rank = 9}, Rng(1)); }).find("at least the rank 9, but is f32 ["),
            std::string::npos);
  EXPECT_EQ(refusal([&] { draw_factors({}, {.rank = 1}, Rng(1)); }),
            "low-rank adaptation: the model has no weights of the sort attention");
  ParameterList factors = some_factors(base, {.rank = 2});
  factors[0].name = "other";
  EXPECT_NE(refusal([&] { merged(base, factors, {.rank = 2}); }).find("are of no weight of the model"),
            std::string::npos);
  factors = some_factors(base, {.rank = 2});
  factors[0].var = Var::parameter(Tensor::zeros(DType::f32, {3, 8}));
  EXPECT_NE(refusal([&] { adapted(base, factors, {.rank = 2}); }).find("but its factors are f32 [3, 8]"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
