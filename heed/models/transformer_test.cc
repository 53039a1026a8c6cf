#include "heed/models/transformer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/models/model_config.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

TransformerConfig small_config() {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 11;
  config.width = 8, config.heads = 2, config.hidden = 10;
  config.encoder_layers = 1, config.decoder_layers = 2;
  config.max_length = 12;
  config.activation = Activation::gelu;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.1;
  return config;
}

TranslationBatch small_batch() {
  using Ids = std::vector<std::int32_t>;
  return {{Tensor::from(Ids{4, 5, 6, 3, 7, 8, 3, 0}, {2, 4}), Tensor::from(Ids{4, 3}, {2})},
          Tensor::from(Ids{2, 9, 10, 2, 5, 0}, {2, 3}),
          Tensor::from(Ids{9, 10, 3, 5, 3, 0}, {2, 3})};
}

void check_gradients(const TransformerConfig& config) {
  Rng rng(1);
  const Transformer model(config, rng);
  const ParameterList parameters = model.parameters();
  for (const auto& [name, var] : parameters) var.convert(DType::f64);
  const TranslationBatch batch = small_batch();
  const CrossEntropyOptions options{.label_smoothing = 0.1, .gradient_scale = 0.5};
  Workspace workspace;
  const auto loss = [&](Tape* tape) {
    Rng dropout(7);
    return 0.5 * model.loss({.tape = tape, .workspace = workspace, .rng = dropout, .training = true}, batch, options).loss_sum;
  };
  Tape tape;
  loss(&tape);
  tape.backward();
  for (const auto& [name, var] : parameters) {
    ASSERT_TRUE(var.has_grad()) << name;
    EXPECT_LT(testing::gradient_error([&] { return loss(nullptr); }, var.value(), var.grad().view()), 5e-7) << name;
  }
}

TEST(Transformer, GradientsAgreeWithFiniteDifferences) {
  TransformerConfig config = small_config();
  check_gradients(config);
  config.norm_first = false;
  config.positions = PositionKind::learned;
  config.share_embeddings = config.tie_output = false;
  check_gradients(config);
}

TEST(Transformer, ParametersHaveTheNamesOfAPyTorchStateDict) {
  Rng rng(1);
  std::vector<std::string> names;
  for (const auto& [name, var] : Transformer(small_config(), rng).parameters()) names.push_back(name);
  for (const char* name : {"embedding.weight", "encoder.layers.0.self_attn.in_proj_weight", "encoder.layers.0.self_attn.out_proj.bias",
                           "encoder.layers.0.linear1.weight", "encoder.norm.weight", "decoder.layers.1.multihead_attn.in_proj_bias",
                           "decoder.layers.1.norm3.bias", "decoder.norm.bias"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

TEST(Transformer, SteppingGivesTheBitsOfTeacherForcingInAnyBatch) {
  TransformerConfig config = small_config();
  config.width = 32, config.heads = 4, config.hidden = 64;
  Rng rng(1);
  const Transformer model(config, rng);
  Workspace workspace;
  const Context context{.workspace = workspace, .rng = rng};
  using Ids = std::vector<std::int32_t>;
  const TokenBatch both{Tensor::from(Ids{4, 5, 6, 3, 7, 8, 3, 0}, {2, 4}), Tensor::from(Ids{4, 3}, {2})};
  const TokenBatch second{Tensor::from(Ids{7, 8, 3}, {1, 3}), Tensor::from(Ids{3}, {1})};
  const auto state = model.start(context, both), alone = model.start(context, second);
  for (std::int32_t token : {2, 9, 4, 6}) {
    const Tensor logits = model.step(context, *state, Ids{5, token}), of_second = model.step(context, *alone, Ids{token});
    EXPECT_TRUE(testing::same_bits(slice(logits.view(), 0, 1, 2), of_second)) << token;
  }
}

TEST(Transformer, SelectingRowsMovesEverythingThatBelongsToThem) {
  Rng rng(1);
  const Transformer model(small_config(), rng);
  Workspace workspace;
  const Context context{.workspace = workspace, .rng = rng};
  using Ids = std::vector<std::int32_t>;
  const TokenBatch source = small_batch().source;
  const auto straight = model.start(context, source), swapped = model.start(context, source);
  model.step(context, *straight, Ids{2, 2});
  model.step(context, *swapped, Ids{2, 2});
  swapped->select_rows(std::vector<Index>{1, 0, 1});
  const Tensor a = model.step(context, *straight, Ids{9, 5}), b = model.step(context, *swapped, Ids{5, 9, 5});
  EXPECT_TRUE(testing::same_bits(slice(a.view(), 0, 1, 2), slice(b.view(), 0, 0, 1)));
  EXPECT_TRUE(testing::same_bits(slice(a.view(), 0, 0, 1), slice(b.view(), 0, 1, 2)));
  EXPECT_TRUE(testing::same_bits(slice(a.view(), 0, 1, 2), slice(b.view(), 0, 2, 3)));
}

TEST(Transformer, RefusesConfigurationsThatMakeNoSense) {
  const auto refused = [](auto change) {
    TransformerConfig config = small_config();
    change(config);
    Rng rng(1);
    EXPECT_THROW(Transformer(config, rng), Error);
  };
  refused([](TransformerConfig& c) { c.heads = 3; });
  refused([](TransformerConfig& c) { c.heads = 0; });
  refused([](TransformerConfig& c) { c.encoder_layers = 0; });
  refused([](TransformerConfig& c) { c.dropout = 1; });
  refused([](TransformerConfig& c) { c.target_vocabulary = 12; });
  refused([](TransformerConfig& c) { c.max_length = Index{1} << 40; });
}

TEST(ModelConfig, SurvivesJson) {
  ModelConfig config;
  config.transformer = small_config();
  config.transformer.positions = PositionKind::learned;
  const Json json = to_json(config);
  EXPECT_EQ(to_json(model_config_from_json(Json::parse(json.dump(2)))), json);
}

}  // namespace
}  // namespace heed
