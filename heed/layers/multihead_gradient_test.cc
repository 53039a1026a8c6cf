// The gradients of multi-head attention agree with finite differences.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "heed/base/random.h"
#include "heed/layers/cross_layer_test.h"
#include "heed/layers/multihead_attention.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::CrossLayer;
using testing::random_booleans;
using testing::random_tensor;
using Options = MultiheadAttentionOptions;

// Of all parameters and of query, key and value, in double. With one input for all three, they are one.
void check_gradients(const Options& options, const AttentionArguments& arguments, const std::vector<Var>& inputs) {
  CrossLayer layer(options);
  for (const auto& [name, var] : layer.list) var.convert(DType::f64);
  const auto forward = [&](Tape* tape) {
    DropoutCalls dropout({.seed = 3});
    const Context context{.tape = tape, .workspace = layer.workspace, .dropout = &dropout};
    return layer.attention.forward(context, inputs[0], inputs[inputs.size() / 2], inputs.back(), arguments).out;
  };
  for (const Var& input : inputs) input.clear_grad();
  Tape tape;
  const Var y = forward(&tape);
  const Tensor weights = random_tensor(DType::f64, {y.dim(0), y.dim(1), y.dim(2)}, 99);
  y.add_grad(weights);
  tape.backward();
  const auto loss = [&] { return testing::weighted_sum(forward(nullptr), weights); };
  for (const auto& [name, var] : layer.list) {
    EXPECT_LT(testing::gradient_error(loss, var.value(), var.grad().view()), 2e-7) << name;
  }
  for (const Var& input : inputs) EXPECT_LT(testing::gradient_error(loss, input.value(), input.grad().view()), 2e-7);
}

Var input(std::initializer_list<Index> shape, std::uint64_t seed) {
  return Var::parameter(random_tensor(DType::f64, shape, seed));
}

TEST(MultiheadAttention, GradientsAgreeWithFiniteDifferences) {
  Rng draw(3);
  const AttentionArguments masks{.key_padding_mask = random_booleans({2, 4}, draw),
                                 .attn_mask = random_tensor(DType::f64, {3, 4}, 5)};
  const Options extras{.embed_dim = 6,
                       .num_heads = 2,
                       .add_bias_kv = true,
                       .add_zero_attn = true,
                       .dropout = 0.3,
                       .attention = AttentionChoice("sinks")};
  check_gradients(extras, masks, {input({2, 3, 6}, 1), input({2, 4, 6}, 2), input({2, 4, 6}, 3)});
  check_gradients(extras, masks, {input({2, 3, 6}, 1), input({2, 4, 6}, 2)});
  check_gradients({.embed_dim = 6,
                   .num_heads = 4,
                   .kdim = 5,
                   .vdim = 3,
                   .num_kv_heads = 2,
                   .head_dim = 4,
                   .attention = AttentionChoice("rotary")},
                  masks, {input({2, 3, 6}, 1), input({2, 4, 5}, 2), input({2, 4, 3}, 3)});
  for (bool batch_first : {false, true}) {
    check_gradients({.embed_dim = 6,
                     .num_heads = 2,
                     .batch_first = batch_first,
                     .dropout = 0.3,
                     .attention = AttentionChoice("rotary(width=2)")},
                    {.is_causal = true}, {input({2, 3, 6}, 1)});
  }
  check_gradients({.embed_dim = 6, .num_heads = 2, .num_kv_heads = 1, .attention = AttentionChoice("elu")},
                  {.is_causal = true}, {input({2, 4, 6}, 1)});
  check_gradients({.embed_dim = 6, .num_heads = 2, .mask = Mask::strided({.stride = 2})}, {.is_causal = true},
                  {input({2, 5, 6}, 1)});
}

}  // namespace
}  // namespace heed
