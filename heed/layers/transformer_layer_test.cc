#include "heed/layers/transformer_layer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/ops/elementwise.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::random_tensor;

// The gradients of a layer's input and of all of its parameters, in double.
template <typename Forward>
void check_gradients(const ParameterList& parameters, std::vector<Var> inputs, Forward forward) {
  for (const auto& [name, var] : parameters) {
    var.convert(DType::f64);
    // Away from zero gains and biases of one, where a wrong gradient could pass.
    const Tensor& value = var.value();
    const Tensor noise = random_tensor(DType::f64, {value.size()}, name.size(), 0.1);
    add_to(noise, reshape(value.view(), {value.size()}));
  }
  Workspace workspace;
  const auto context = [&](Tape* tape, DropoutCalls& dropout) {
    return Context{.tape = tape, .workspace = workspace, .dropout = &dropout};
  };
  Tape tape;
  DropoutCalls dropout({.seed = 3});
  const Var y = forward(context(&tape, dropout));
  const Tensor weights = random_tensor(DType::f64, {y.value().size()}, 99).reshape({y.dim(0), y.dim(1), y.dim(2)});
  y.add_grad(weights);
  tape.backward();
  const auto loss = [&] {
    DropoutCalls again({.seed = 3});
    return testing::weighted_sum(forward(context(nullptr, again)), weights);
  };
  for (const auto& [name, var] : parameters)
    EXPECT_LT(testing::gradient_error(loss, var.value(), var.grad().view()), 2e-7) << name;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_LT(testing::gradient_error(loss, inputs[i].value(), inputs[i].grad().view()), 2e-7) << "input " << i;
  }
}

Var random_input(Index batch, Index length, Index width, std::uint64_t seed) {
  return Var::parameter(random_tensor(DType::f64, {batch, length, width}, seed));
}

TransformerLayerOptions small_options(bool norm_first) {
  return {.width = 8,
          .heads = 2,
          .hidden = 12,
          .activation = Activation::gelu,
          .norm_first = norm_first,
          .dropout = 0.2,
          .attention_dropout = 0.2,
          .activation_dropout = 0.2};
}

TEST(TransformerEncoderLayer, GradientsAgreeWithFiniteDifferences) {
  for (bool norm_first : {false, true}) {
    DrawnParameters drawn(Rng(1));
    const TransformerEncoderLayer layer(drawn, small_options(norm_first));
    const Var x = random_input(2, 3, 8, 5);
    const Tensor lengths = Tensor::from(std::vector<std::int32_t>{3, 2}, {2});
    check_gradients(drawn.list(), {x},
                    [&](const Context& context) { return layer.forward(context, x, Mask::key_lengths(lengths)); });
  }
}

TEST(TransformerDecoderLayer, GradientsAgreeWithFiniteDifferences) {
  for (bool norm_first : {false, true}) {
    DrawnParameters drawn(Rng(1));
    const TransformerDecoderLayer layer(drawn, small_options(norm_first));
    const Var x = random_input(2, 3, 8, 5), memory = random_input(2, 4, 8, 6);
    const Tensor lengths = Tensor::from(std::vector<std::int32_t>{4, 2}, {2});
    check_gradients(drawn.list(), {x, memory}, [&](const Context& context) {
      return layer.forward(context, x, Mask::causal(), layer.project_memory(context, memory),
                           Mask::key_lengths(lengths));
    });
  }
}

TEST(TransformerDecoderLayer, SteppingWithAMemoryGivesTheBitsOfTheWholeSequence) {
  Rng rng(1);
  DrawnParameters drawn(rng);
  const TransformerDecoderLayer layer(drawn, {.width = 32, .heads = 4, .hidden = 48, .norm_first = true});
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Index batch = 3, length = 21, source = 7;
  const Var x(random_tensor(DType::f32, {batch, length, 32}, 7)),
      memory(random_tensor(DType::f32, {batch, source, 32}, 8));
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{7, 3, 5}, {batch});
  const Mask memory_mask = Mask::key_lengths(lengths);
  const Var projection = layer.project_memory(context, memory);
  const Var whole = layer.forward(context, x, Mask::causal(), projection, memory_mask);
  TransformerDecoderLayer::Memory kept = layer.make_memory(DType::f32);
  layer.admit(context, memory, std::vector<Index>{7, 3, 5}, kept);
  for (Index t = 0; t < length; ++t) {
    const Var step = layer.step(context, Var(Tensor::copy_of(slice(x.value().view(), 1, t, t + 1))), kept);
    EXPECT_TRUE(testing::same_bits(step, slice(whole.value().view(), 1, t, t + 1))) << t;
  }
}

TEST(TransformerEncoderLayer, ARowHasTheSameBitsInAnotherBatchPaddingAndThreadCount) {
  Rng rng(1);
  DrawnParameters drawn(rng);
  const TransformerEncoderLayer layer(drawn, {.width = 64, .heads = 4, .hidden = 128});
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const int before = thread_count();
  const Tensor x = random_tensor(DType::f32, {5, 40, 64}, 7);
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{40, 11, 23, 1, 17}, {5});
  const Var whole = layer.forward(context, Var(x), Mask::key_lengths(lengths));
  for (Index b = 0; b < 5; ++b) {
    set_thread_count(1 + static_cast<int>(b) % 3);
    const Index length = lengths.at<std::int32_t>({b});
    const Tensor alone = Tensor::copy_of(slice(slice(x.view(), 0, b, b + 1), 1, 0, length));
    const Var y = layer.forward(context, Var(alone), {});
    EXPECT_TRUE(testing::same_bits(y, slice(slice(whole.value().view(), 0, b, b + 1), 1, 0, length))) << b;
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace heed
