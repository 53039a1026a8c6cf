#include "heed/layers/transformer_block.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

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

TransformerBlockOptions small_options() {
  return {.width = 8,
          .heads = 2,
          .ffn_width = 12,
          .activation = Activation::gelu,
          .dropout = 0.2,
          .attention_dropout = 0.2,
          .activation_dropout = 0.2,
          .max_positions = 16};
}

// Every kind of block, and every term of attention somewhere.
std::map<std::string, TransformerBlockOptions> blocks() {
  std::map<std::string, TransformerBlockOptions> all;
  const auto add = [&](const std::string& name, auto change) { change(all[name] = small_options()); };
  add("post", [](auto&) {});
  add("pre", [](auto& o) { o.norm_place = NormPlace::pre; });
  add("both, rms", [](auto& o) { o.norm_place = NormPlace::both, o.norm = NormKind::rms; });
  add("gated", [](auto& o) { o.activation = Activation::silu, o.gated = true; });
  add("multi-query", [](auto& o) { o.kv_heads = 1; });
  for (const char* attention :
       {"additive + alibi", "cosine + relative(buckets=4) + sinks", "squared_distance + rotary + entmax15",
        "soft_cap(2) + sigmoid", "dot + window(1) + sparsemax", "elu", "performer(features=6)"}) {
    add(attention, [&](auto& o) { o.self_attention = AttentionChoice(attention); });
  }
  return all;
}

TEST(TransformerBlock, GradientsOfAnEncodersAgreeWithFiniteDifferences) {
  for (const auto& [name, options] : blocks()) {
    SCOPED_TRACE(name);
    DrawnParameters drawn(Rng(1));
    const TransformerBlock block(drawn, AttentionKind::encoder, options);
    const Var x = random_input(2, 3, 8, 5);
    const Tensor lengths = Tensor::from(std::vector<std::int32_t>{3, 2}, {2});
    check_gradients(drawn.list(), {x}, [&](const Context& context) {
      return block.forward(context, x, {.mask = Mask::key_lengths(lengths)});
    });
  }
}

TEST(TransformerBlock, GradientsOfADecodersAgreeWithFiniteDifferences) {
  for (auto& [name, options] : blocks()) {
    SCOPED_TRACE(name);
    DrawnParameters drawn(Rng(1));
    TransformerBlockOptions with_cross = options;
    with_cross.cross = true;
    if (name == "pre") with_cross.cross_attention = AttentionChoice("cosine + entmax15");
    const TransformerBlock block(drawn, AttentionKind::decoder, with_cross);
    const Var x = random_input(2, 3, 8, 5), memory = random_input(2, 4, 8, 6);
    const Tensor lengths = Tensor::from(std::vector<std::int32_t>{4, 2}, {2});
    check_gradients(drawn.list(), {x, memory}, [&](const Context& context) {
      return block.forward(context, x, {.mask = Mask::causal()}, block.project_memory(context, memory),
                           Mask::key_lengths(lengths));
    });
  }
}

// Sequences that lie end to end are computed as if each were alone.
TEST(TransformerBlock, SequencesEndToEndHaveTheBitsThatTheyHaveAlone) {
  for (const auto& [name, options] : blocks()) {
    SCOPED_TRACE(name);
    DrawnParameters drawn(Rng(1));
    const TransformerBlock block(drawn, AttentionKind::decoder, options);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const Tensor x = random_tensor(DType::f32, {1, 12, 8}, 7);
    const std::vector<std::int32_t> offsets{0, 5, 6, 12};
    const Var whole = block.forward(context, Var(x), {.mask = Mask::causal(), .offsets = Tensor::from(offsets, {4})});
    for (std::size_t n = 0; n + 1 < offsets.size(); ++n) {
      const Var alone = block.forward(context, Var(Tensor::copy_of(slice(x.view(), 1, offsets[n], offsets[n + 1]))),
                                      {.mask = Mask::causal()});
      EXPECT_TRUE(testing::same_bits(alone, slice(whole.value().view(), 1, offsets[n], offsets[n + 1]))) << n;
    }
  }
}

// Decoding reads token after token; linear attention's state is a sum over tokens in another order.
TEST(TransformerBlock, SteppingWithAMemoryGivesTheWholeSequence) {
  for (const auto& [name, options] : blocks()) {
    SCOPED_TRACE(name);
    DrawnParameters drawn(Rng(1));
    TransformerBlockOptions with_cross = options;
    with_cross.cross = true;
    const TransformerBlock block(drawn, AttentionKind::decoder, with_cross);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const Index batch = 3, length = 11, source = 7;
    const Var x(random_tensor(DType::f32, {batch, length, 8}, 7)),
        encoded(random_tensor(DType::f32, {batch, source, 8}, 8));
    const std::vector<Index> lengths{7, 3, 5};
    const Tensor source_lengths = Tensor::from(lengths, {batch});
    const Var whole = block.forward(context, x, {.mask = Mask::causal()}, block.project_memory(context, encoded),
                                    Mask::key_lengths(source_lengths));
    TransformerBlock::Memory memory = block.make_memory(DType::f32);
    block.admit_source(context, encoded, lengths, memory);
    for (Index t = 0; t < length; ++t) {
      const Var step = block.step(context, Var(Tensor::copy_of(slice(x.value().view(), 1, t, t + 1))), memory);
      const View expected = slice(whole.value().view(), 1, t, t + 1);
      if (name == "elu" || name.starts_with("performer")) {
        EXPECT_LT(testing::largest_difference(step, expected), 1e-5) << t;
      } else {
        EXPECT_TRUE(testing::same_bits(step, expected)) << t;
      }
    }
  }
}

TEST(TransformerBlock, ARowHasTheSameBitsInAnotherBatchPaddingAndThreadCount) {
  Rng rng(1);
  DrawnParameters drawn(rng);
  const TransformerBlock block(drawn, AttentionKind::encoder, {.width = 64, .heads = 4, .ffn_width = 128});
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const int before = thread_count();
  const Tensor x = random_tensor(DType::f32, {5, 40, 64}, 7);
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{40, 11, 23, 1, 17}, {5});
  const Var whole = block.forward(context, Var(x), {.mask = Mask::key_lengths(lengths)});
  for (Index b = 0; b < 5; ++b) {
    set_thread_count(1 + static_cast<int>(b) % 3);
    const Index length = lengths.at<std::int32_t>({b});
    const Tensor alone = Tensor::copy_of(slice(slice(x.view(), 0, b, b + 1), 1, 0, length));
    const Var y = block.forward(context, Var(alone), {});
    EXPECT_TRUE(testing::same_bits(y, slice(slice(whole.value().view(), 0, b, b + 1), 1, 0, length))) << b;
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace heed
