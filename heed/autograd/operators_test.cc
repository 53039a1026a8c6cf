#include "heed/autograd/operators.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "heed/autograd/attention.h"
#include "heed/autograd/loss.h"
#include "heed/autograd/recurrent.h"
#include "heed/autograd/reduce.h"
#include "heed/base/error.h"
#include "heed/ops/linear.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/random_blocks.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

Var input(std::initializer_list<Index> shape, std::uint64_t seed) {
  return Var::parameter(random_tensor(DType::f64, shape, seed));
}

// Holds the gradients of all inputs against finite differences of a random weighted sum of forward's result.
void check(const std::string& name, const std::vector<Var>& inputs, const std::function<Var(const Context&)>& forward) {
  SCOPED_TRACE(name);
  Workspace workspace;
  Tape tape;
  DropoutCalls dropout({.seed = 5});
  const Var y = forward(Context::training(tape, workspace, dropout));
  Tensor weights = Tensor::empty_like(y.value().view());
  copy(reshape(random_tensor(DType::f64, {weights.size()}, 77).view(), {weights.size()}),
       reshape(weights.view(), {weights.size()}));
  y.add_grad(weights);
  tape.backward();
  EXPECT_TRUE(tape.empty());
  const auto loss = [&] {
    DropoutCalls again({.seed = 5});
    return testing::weighted_sum(forward({.workspace = workspace, .dropout = &again}), weights);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(inputs[i].has_grad()) << "input " << i;
    EXPECT_LT(testing::gradient_error(loss, inputs[i].value(), inputs[i].grad().view()), 1e-7) << "input " << i;
  }
}

TEST(Operators, GradientsAgreeWithFiniteDifferences) {
  const Var x = input({2, 3, 4}, 1), w = input({5, 4}, 2), b = input({5}, 3), gain = input({4}, 4),
            shift = input({4}, 5);
  check("linear", {x, w, b}, [&](const Context& c) { return linear(c, x, w, b); });
  const Var v = input({2, 3, 4}, 12), w1 = input({2, 4}, 13), b1 = input({2}, 14), w2 = input({3, 4}, 15),
            w3 = input({3, 4}, 21);
  check("linear, of several maps", {v, w1, b1, w3}, [&](const Context& c) {
    return linear(c, v, std::array{AffineVars{w1, b1}, AffineVars{w3, {}}});
  });
  const Var u = input({2, 3, 4}, 17), down = input({2, 4}, 18), up = input({5, 2}, 19);
  const Var adapted = Var::adapted(random_tensor(DType::f64, {5, 4}, 20), {.down = down, .up = up, .scale = 2});
  check("linear, of a map with factors and one without", {u, down, up, w2}, [&](const Context& c) {
    return linear(c, u, std::array{AffineVars{adapted, {}}, AffineVars{w2, {}}});
  });
  const Var g = input({2, 3, 6}, 16);
  check("activate_gated", {g}, [&](const Context& c) { return activate_gated(c, Activation::silu, g); });
  const Var y = input({2, 3, 4}, 6), z = input({2, 3, 4}, 7);
  check("activate", {y}, [&](const Context& c) { return activate(c, Activation::gelu, y); });
  check("add", {z}, [&](const Context& c) { return add(c, z, add(c, z, y)); });
  const Var n = input({2, 3, 4}, 8);
  check("layer_norm", {n, gain, shift}, [&](const Context& c) { return layer_norm(c, n, gain, shift, 1e-5); });
  const Var r = input({2, 6}, 11);
  check("reshape", {r}, [&](const Context& c) { return reshape(c, r, {2, 2, 3}); });
}

TEST(Operators, GradientsOfTablesAgreeWithFiniteDifferences) {
  const Var table = input({6, 4}, 1), positions = input({7, 4}, 2), x = input({2, 3, 4}, 3);
  const Tensor ids = Tensor::from(std::vector<std::int32_t>{1, 5, 1, 0, 2, 5}, {2, 3});
  check("embedding", {table}, [&](const Context& c) { return embedding(c, table, ids, 2.5); });
  check("add_positions", {x, positions}, [&](const Context& c) { return add_positions(c, x, positions, 2); });
  Workspace workspace;
  EXPECT_THROW(add_positions(Context::inference(workspace), x, positions, 5), Error);
}

TEST(Operators, GradientsOfDropoutAgreeWithFiniteDifferences) {
  const Var x = input({3, 40}, 1), y = input({3, 40}, 2), residual = input({3, 40}, 3);
  check("dropout", {x}, [&](const Context& c) { return dropout(c, x, 0.4); });
  check("dropout_add", {y, residual}, [&](const Context& c) { return dropout_add(c, y, 0.4, residual); });
}

TEST(Operators, GradientsOfJoinsAndCutsAgreeWithFiniteDifferences) {
  const Var a = input({2, 3}, 1), b = input({2, 2}, 2), x = input({2, 3, 4}, 3);
  check("concatenate", {a, b}, [&](const Context& c) { return concatenate(c, std::vector<Var>{a, b, a}); });
  check("split_time and stack_time", {x}, [&](const Context& c) {
    const std::vector<Var> steps = split_time(c, x);
    return stack_time(c, std::vector<Var>{steps[2], steps[0], steps[2], steps[1]});
  });
}

TEST(Operators, JoinsAlongAnyAxis) {
  const Var a = input({2, 1, 3}, 1), b = input({2, 2, 3}, 2), c = input({1, 3, 3}, 3), d = input({2, 3, 3}, 4);
  check("the middle axis", {a, b}, [&](const Context& k) { return concatenate(k, std::vector<Var>{b, a, b}, 1); });
  check("the first axis", {c, d}, [&](const Context& k) { return concatenate(k, std::vector<Var>{c, d}, 0); });
  Workspace workspace;
  EXPECT_THROW(concatenate(Context::inference(workspace), std::vector<Var>{a, c}, 1), Error);
  EXPECT_THROW(concatenate(Context::inference(workspace), std::vector<Var>{a, b}, 3), Error);
}

TEST(Operators, WhatIsRepeatedGetsTheSumOfItsGradients) {
  const auto check_with = [](const Var& b) {
    SCOPED_TRACE(describe(b.value().view()));
    const Var a = input({2, 3, 4}, 1), c = Var::parameter(b.value().clone());
    check("add", {a, b}, [&](const Context& context) { return add(context, a, b); });
    const Var d = input({2, 3, 4}, 2);
    check("multiply", {d, c}, [&](const Context& context) { return multiply(context, d, c); });
  };
  for (const Var& b : {input({2, 3, 4}, 3), input({4}, 4), input({1, 1, 4}, 5), input({2, 1, 1}, 6),
                       input({2, 3, 1}, 7), input({1, 3, 4}, 8), input({3, 1}, 9)}) {
    check_with(b);
  }
  Workspace workspace;
  const Context context = Context::inference(workspace);
  EXPECT_THROW(multiply(context, input({2, 3}, 1), input({2}, 2)), Error);
  EXPECT_THROW(multiply(context, input({1, 3}, 1), input({2, 3}, 2)), Error);
}

TEST(Operators, GradientsOfSumsAndMeansAgreeWithFiniteDifferences) {
  for (int axis = 0; axis < 3; ++axis) {
    const Var x = input({2, 3, 4}, 1), y = input({2, 3, 4}, 2);
    check("sum", {x}, [&](const Context& c) { return sum(c, x, axis); });
    check("mean", {y}, [&](const Context& c) { return mean(c, y, axis); });
  }
  const Var x = input({2, 3}, 3), square = input({2, 3}, 4);
  check("the mean of all", {x}, [&](const Context& c) { return mean(c, x); });
  check("a square's mean", {square}, [&](const Context& c) { return mean(c, multiply(c, square, square)); });
  Workspace workspace;
  EXPECT_EQ(mean(Context::inference(workspace), Var(Tensor::from<double>({1, 2, 3, 6}, {2, 2}))).value().at<double>({}),
            3);
  EXPECT_THROW(sum(Context::inference(workspace), x, 2), Error);
}

TEST(Operators, GradientsOfPoolingAgreeWithFiniteDifferences) {
  const Tensor padding = Tensor::zeros(DType::boolean, {3, 4});
  for (const auto& [b, l] : {std::pair{0, 3}, std::pair{1, 1}, std::pair{1, 2}, std::pair{2, 0}, std::pair{2, 1},
                             std::pair{2, 2}, std::pair{2, 3}}) {
    padding.at<bool>({b, l}) = true;
  }
  for (const Tensor& out : {padding, Tensor()}) {
    const Var x = input({3, 4, 5}, 1), y = input({3, 4, 5}, 2);
    check("mean_pool", {x}, [&](const Context& c) { return mean_pool(c, x, out); });
    check("max_pool", {y}, [&](const Context& c) { return max_pool(c, y, out); });
  }
}

TEST(Operators, GradientsOfPartsAndOfSoftmaxAgreeWithFiniteDifferences) {
  const Var a = input({3, 4}, 1), x = input({2, 5, 3}, 2), y = input({2, 3, 4}, 3), z = input({2, 4}, 4);
  check("scale", {a}, [&](const Context& c) { return scale(c, a, -2.5); });
  check("slice", {x}, [&](const Context& c) { return slice(c, add(c, x, x), 1, 1, 4); });
  const Tensor rows = Tensor::from(std::vector<std::int32_t>{5, 0, 5, 2}, {4});
  check("gather", {y}, [&](const Context& c) { return gather(c, y, rows); });
  check("softmax", {z}, [&](const Context& c) { return softmax(c, z); });
  Workspace workspace;
  const Context context = Context::inference(workspace);
  // Row b L + l of [B, L, D] is position l of sequence b.
  EXPECT_TRUE(testing::same_bits(gather(context, y, rows).value().rows(0, 1).view(),
                                 heed::reshape(select(select(y.value().view(), 0, 1), 0, 2), {1, 4})));
  EXPECT_THROW(slice(context, x, 1, 2, 6), Error);
  EXPECT_THROW(gather(context, y, Tensor::from(std::vector<std::int32_t>{6}, {1})), Error);
}

TEST(Operators, GradientsOfAttentionAgreeWithFiniteDifferences) {
  const Var qkv = input({2, 3, 12}, 1), q = input({2, 3, 4}, 2), memory = input({2, 5, 4}, 3), vector = input({2}, 4);
  const AttentionSpec causal{.mask = Mask::causal(), .dropout = {.probability = 0.3}};
  check("a packed projection", {qkv}, [&](const Context& c) {
    return attention(c, {qkv, 0, 2, 2}, {qkv, 4, 2, 2}, {qkv, 8, 2, 2}, causal);
  });
  // The same memory as keys and as values: their gradients meet in one tensor.
  check("keys that are the values", {q, memory}, [&](const Context& c) {
    return attention(c, {q, 0, 2, 2}, {memory, 0, 2, 2}, {memory, 0, 2, 2}, {});
  });
  const Var query = input({2, 3, 2}, 5), keys = input({2, 5, 2}, 6), values = input({2, 5, 3}, 7);
  check("additive", {query, keys, values, vector}, [&](const Context& c) {
    return attention(c, {query, 0, 1, 2}, {keys, 0, 1, 2}, {values, 0, 1, 3},
                     {.score = Score::additive(vector.value())}, {vector});
  });
  const Var p = input({1, 3, 2}, 8), r = input({1, 4, 2}, 9), bias = input({1, 1, 3, 4}, 10);
  check("a dense bias", {p, r, bias}, [&](const Context& c) {
    return attention(c, {p, 0, 1, 2}, {r, 0, 1, 2}, {r, 0, 1, 2}, {.bias = {.dense = bias.value()}}, {bias});
  });
  const Var s = input({1, 3, 2}, 11), table = input({4, 1}, 12);
  check("T5's table", {s, table}, [&](const Context& c) {
    return attention(c, {s, 0, 1, 2}, {s, 0, 1, 2}, {s, 0, 1, 2},
                     {.bias = {.relative = {.table = table.value(), .max_distance = 8}}}, {table});
  });
}

TEST(Loss, GradientReachesWhatLiesBelow) {
  const Var x = input({2, 3, 4}, 1), w = input({6, 4}, 2);
  const Tensor targets = Tensor::from(std::vector<std::int32_t>{1, 5, 0, 3, 2, 0}, {2, 3});
  Workspace workspace;
  const auto loss = [&](Tape* tape) {
    const Context context{.tape = tape, .workspace = workspace};
    return 0.25 * linear_cross_entropy(context, activate(context, Activation::tanh, x), w, {}, targets,
                                       {.label_smoothing = 0.1, .ignore_index = 0, .gradient_scale = 0.25})
                      .loss_sum;
  };
  Tape tape;
  loss(&tape);
  tape.backward();
  for (const Var& var : {x, w}) {
    EXPECT_LT(testing::gradient_error([&] { return loss(nullptr); }, var.value(), var.grad().view()), 1e-8);
  }
}

TEST(Var, AParametersRowsShareItsGradient) {
  const Var weight = Var::parameter(Tensor::zeros(DType::f64, {4, 2}));
  Tape tape;
  const Var rows = weight.parameter_rows(1, 3, &tape);
  rows.grad_accumulator().at<double>({0, 1}) = 5;
  EXPECT_EQ(weight.grad().at<double>({1, 1}), 5);
  rows.value().at<double>({1, 0}) = 7;
  EXPECT_EQ(weight.value().at<double>({2, 0}), 7);
}

// So that threads may translate with one model.
TEST(Var, AForwardPassWithoutATapeWritesNothingOfAParameter) {
  const Var table = Var::parameter(Tensor::zeros(DType::f32, {4, 2}));
  Workspace workspace;
  add_positions({.workspace = workspace}, Var(Tensor::zeros(DType::f32, {1, 3, 2})), table, 1);
  EXPECT_FALSE(table.has_grad());
}

TEST(Var, TwoConsumersOfOneGradientDoNotShareTheirSums) {
  Tape tape;
  Workspace workspace;
  const Context context{.tape = &tape, .workspace = workspace};
  const Var a = input({3}, 1), b = input({3}, 2);
  // d(2a + b) flows whole into both sides of add; a gets another part, which must not show in b.
  const Var y = add(context, reshape(context, a, {3}), b);
  const Var z = add(context, y, reshape(context, a, {3}));
  z.add_grad(Tensor::from(std::vector<double>{1, 1, 1}, {3}));
  tape.backward();
  EXPECT_EQ(a.grad().at<double>({0}), 2);
  EXPECT_EQ(b.grad().at<double>({0}), 1);
}

TEST(Var, WithoutATapeNothingIsRecordedAndNoGradientIsMade) {
  Workspace workspace;
  const Var x = input({2, 4}, 1);
  const Var y = activate(Context::inference(workspace), Activation::relu, x);
  EXPECT_FALSE(y.requires_grad());
  y.add_grad(Tensor::zeros(DType::f64, {2, 4}));
  EXPECT_FALSE(y.has_grad());
}

TEST(Var, AWeightOfBlocksIsReadAsItIs) {
  Workspace workspace;
  const Context inference = Context::inference(workspace);
  for (BlockType type : testing::kBlockTypes) {
    const Tensor bytes = testing::random_blocks(type, 6, 256, 1), wide = Tensor::empty(DType::f32, {6, 256});
    widen_blocks(type, bytes.data<unsigned char>(), 6 * 256 / layout_of(type).numbers, wide.data<float>());
    const Var weight = Var::narrow(bytes, {}, type), twin(wide), x(random_tensor(DType::f32, {3, 256}, 2));
    EXPECT_EQ(weight.blocks(), type);
    const Tensor product = Tensor::empty(DType::f32, {3, 6});
    heed::linear(x.value().view(), Weight(bytes.view(), {}, type), {}, product.view());
    EXPECT_TRUE(same_bits(linear(inference, x, weight, {}), product));
    const Tensor ids = Tensor::from<std::int32_t>({5, 0}, {2});
    EXPECT_TRUE(same_bits(embedding(inference, weight, ids, 2), embedding(inference, twin, ids, 2)));
    const Var rows = weight.parameter_rows(2, 5, nullptr);
    EXPECT_TRUE(same_bits(linear(inference, x, rows, {}), Tensor::copy_of(slice(product.view(), 1, 2, 5))));
    Tape tape;
    EXPECT_NE(refusal([&] {
                linear({.tape = &tape, .workspace = workspace}, x, weight, {});
              }).find(std::string("it must be f32, but it is ") + std::string(name_of(type)) + " [6, 256]"),
              std::string::npos);
  }
  EXPECT_THROW(Var::narrow(Tensor::zeros(DType::i8, {2, 33}), {}, BlockType::q8_0), Error);
}

}  // namespace
}  // namespace heed
