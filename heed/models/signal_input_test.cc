#include "heed/models/signal_input.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/layers/drawn_parameters.h"
#include "heed/models/model_config.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;

TransformerConfig seeing() {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 1;
  config.width = 8, config.heads = 2, config.ffn_width = 10;
  config.encoder_layers = 1, config.decoder_layers = 0;
  config.dropout = config.attention_dropout = 0;
  config.signal = {.kind = SignalKind::picture, .channels = 2, .height = 4, .width = 6, .patch = 2};
  return config;
}

TransformerConfig hearing() {
  TransformerConfig config = seeing();
  config.source_vocabulary = config.target_vocabulary = 9;
  config.decoder_layers = 1;
  config.signal = {.kind = SignalKind::sound, .channels = 3, .frames = 7};
  return config;
}

TEST(SignalInput, APositionIsAPatchAndItsPixelsAlone) {
  DrawnParameters drawn(Rng(1));
  const SignalInput input(drawn, seeing());
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Tensor pixels = random_tensor(DType::f32, {1, 2, 4, 6}, 1, 1);
  const Tensor before = input.forward(context, pixels).value();
  ASSERT_EQ(before.dim(1), 1 + 2 * 3);
  pixels.at<float>({0, 1, 3, 2}) += 1;  // of the patch in row 1, column 1
  const Tensor after = input.forward(context, pixels).value();
  for (Index position = 0; position < 7; ++position) {
    bool is_same = true;
    for (Index i = 0; i < 8; ++i) {
      is_same = is_same && before.at<float>({0, position, i}) == after.at<float>({0, position, i});
    }
    EXPECT_EQ(is_same, position != 1 + 3 + 1) << position;
  }
}

TEST(SignalInput, ADistilledTokenIsBehindTheClassToken) {
  TransformerConfig config = seeing();
  config.signal.distilled = true;
  EXPECT_EQ(config.signal.positions(), 2 + 2 * 3);
  DrawnParameters drawn(Rng(1));
  const SignalInput input(drawn, config);
  Workspace workspace;
  const Tensor read = input.forward(Context::inference(workspace), random_tensor(DType::f32, {1, 2, 4, 6}, 1)).value();
  for (const auto& [name, var] : drawn.list()) {
    const Index row = name == "source_class" ? 0 : name == "source_distillation" ? 1 : -1;
    if (row < 0) continue;
    for (const auto& [other, positions] : drawn.list()) {
      if (other != "source_positions.weight") continue;
      for (Index i = 0; i < config.width; ++i) {
        EXPECT_EQ(read.at<float>({0, row, i}),
                  var.value().at<float>({0, 0, i}) + positions.value().at<float>({row, i}));
      }
    }
  }
}

TEST(SignalInput, WhatPatchesLeaveOfAPictureIsNotRead) {
  TransformerConfig config = seeing();
  config.signal.height = 5, config.signal.width = 7;  // patches of 2
  config.check();
  EXPECT_EQ(config.signal.positions(), 1 + 2 * 3);
  DrawnParameters drawn(Rng(1));
  const SignalInput input(drawn, config);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Tensor pixels = random_tensor(DType::f32, {1, 2, 5, 7}, 1, 1), whole = Tensor::empty(DType::f32, {1, 2, 4, 6});
  for (Index channel = 0; channel < 2; ++channel) {
    for (Index y = 0; y < 4; ++y) {
      for (Index x = 0; x < 6; ++x) whole.at<float>({0, channel, y, x}) = pixels.at<float>({0, channel, y, x});
    }
  }
  DrawnParameters again(Rng(1));
  const SignalInput even(again, seeing());
  EXPECT_TRUE(
      testing::same_bits(input.forward(context, pixels).value().view(), even.forward(context, whole).value().view()));
}

TEST(SignalInput, APositionOfSoundHearsTheFramesAroundIt) {
  DrawnParameters drawn(Rng(1));
  const SignalInput input(drawn, hearing());
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Tensor bands = random_tensor(DType::f32, {1, 7, 3}, 1, 1);
  const Tensor before = input.forward(context, bands).value();
  ASSERT_EQ(before.dim(1), 4);
  bands.at<float>({0, 5, 0}) += 1;  // position p hears frames 2p - 2 to 2p + 2
  const Tensor after = input.forward(context, bands).value();
  for (Index position = 0; position < 4; ++position) {
    const bool is_same = before.at<float>({0, position, 0}) == after.at<float>({0, position, 0});
    EXPECT_EQ(is_same, position < 2) << position;
  }
}

void check_gradients(const TransformerConfig& config, const Tensor& signal) {
  DrawnParameters drawn(Rng(3));
  const SignalInput input(drawn, config);
  for (const auto& [name, var] : drawn.list()) var.convert(DType::f64);
  Workspace workspace;
  Tape tape;
  const Var y = input.forward({.tape = &tape, .workspace = workspace}, signal);
  const Tensor weights = random_tensor(DType::f64, {y.value().size()}, 99).reshape({y.dim(0), y.dim(1), y.dim(2)});
  y.add_grad(weights);
  tape.backward();
  const auto loss = [&] {
    return testing::weighted_sum(input.forward(Context::inference(workspace), signal).value(), weights);
  };
  for (const auto& [name, var] : drawn.list()) {
    ASSERT_TRUE(var.has_grad()) << name;
    EXPECT_LT(testing::gradient_error(loss, var.value(), var.grad().view()), 2e-7) << name;
  }
}

TEST(SignalInput, GradientsOfPicturesAndOfSound) {
  check_gradients(seeing(), random_tensor(DType::f32, {2, 2, 4, 6}, 5, 1));
  check_gradients(hearing(), random_tensor(DType::f32, {2, 7, 3}, 6, 1));
}

TEST(SignalInput, AConfigurationIsReadAsItWasWritten) {
  for (const TransformerConfig& config : {seeing(), hearing()}) {
    EXPECT_TRUE(to_json(transformer_config_from_json(to_json(config))) == to_json(config));
  }
}

TEST(SignalInput, DecodingByStepsIsTheWholePass) {
  DrawnParameters drawn(Rng(4));
  const Transformer model(drawn, hearing());
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const TokenBatch sound{.signal = random_tensor(DType::f32, {2, 7, 3}, 7, 1)};
  const std::vector<std::int32_t> ids{2, 5, 7, 1, 2, 4, 8, 3};
  const Tensor logits = model.logits(context, {sound, Tensor::from(ids, {2, 4})}).value();
  const auto state = model.start(Precision::f32);
  model.admit(context, *state, sound);
  for (Index t = 0; t < 4; ++t) {
    const std::vector<std::int32_t> tokens{ids[static_cast<std::size_t>(t)], ids[static_cast<std::size_t>(t) + 4]};
    const Tensor step = model.step(context, *state, tokens);
    for (Index row = 0; row < 2; ++row) {
      for (Index i = 0; i < 9; ++i) EXPECT_NEAR(step.at<float>({row, i}), logits.at<float>({row, t, i}), 1e-5);
    }
  }
}

TEST(SignalInput, WhatTheModelDoesNotReadIsRefused) {
  DrawnParameters drawn(Rng(4));
  const Transformer model(drawn, seeing());
  Workspace workspace;
  const Context context = Context::inference(workspace);
  EXPECT_EQ(refusal([&] {
              model.encode(context, {.signal = Tensor::zeros(DType::f32, {1, 2, 6, 4})});
            }),
            "Transformer: a picture is f32 [1, 2, 6, 4], but the model reads f32 [batch, 2, 4, 6]");
  const std::vector<std::int32_t> one{1};
  EXPECT_EQ(refusal([&] {
              model.encode(context, {Tensor::from(one, {1, 1}), Tensor::from(one, {1})});
            }),
            "Transformer: the encoder reads a signal, and there is none");
  TransformerConfig config = seeing();
  config.signal.patch = 5;
  EXPECT_EQ(refusal([&] { config.check(); }),
            "Transformer: signal: a picture of 4 rows and 6 columns has no whole patch of 5");
}

}  // namespace
}  // namespace heed
