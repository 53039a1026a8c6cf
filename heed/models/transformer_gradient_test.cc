// The gradients of a Transformer agree with finite differences.
#include <gtest/gtest.h>

#include "heed/layers/drawn_parameters.h"
#include "heed/models/small_batch.h"
#include "heed/models/small_transformers_test.h"
#include "heed/models/transformer.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::small_config;
using testing::variants;

void check_gradients(const TransformerConfig& config) {
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  const ParameterList& parameters = drawn.list();
  for (const auto& [name, var] : parameters) var.convert(DType::f64);
  const SequenceBatch batch = small_batch();
  const CrossEntropyOptions options{.label_smoothing = 0.1, .gradient_scale = 0.5};
  Workspace workspace;
  const auto loss = [&](Tape* tape) {
    DropoutCalls dropout({.seed = 7});
    return 0.5 * model.loss({.tape = tape, .workspace = workspace, .dropout = &dropout}, batch, options).loss_sum;
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
  config.norm_place = NormPlace::post;
  config.positions = PositionKind::learned;
  config.share_embeddings = config.tie_output = false;
  check_gradients(config);
}

TEST(Transformer, GradientsOfEverySelfAttentionAgreeWithFiniteDifferences) {
  for (const auto& [name, config] : variants()) {
    SCOPED_TRACE(name);
    check_gradients(config);
  }
}

void check_language_model(const TransformerConfig& config) {
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  for (const auto& [name, var] : drawn.list()) var.convert(DType::f64);
  SequenceBatch batch = small_batch();
  batch.source = {};
  Workspace workspace;
  const auto loss = [&](Tape* tape) {
    return model.loss({.tape = tape, .workspace = workspace}, batch, CrossEntropyOptions{}).loss_sum;
  };
  Tape tape;
  loss(&tape);
  tape.backward();
  for (const auto& [name, var] : drawn.list()) {
    EXPECT_LT(testing::gradient_error([&] { return loss(nullptr); }, var.value(), var.grad().view()), 5e-7) << name;
  }
}

TEST(Transformer, GradientsOfALanguageModelsParallelBlocksAgreeWithFiniteDifferences) {
  TransformerConfig config = small_config();
  config.encoder_layers = 0, config.norm_place = NormPlace::parallel;
  check_language_model(config);
}

TEST(Transformer, GradientsOfALanguageModelsNarrowEmbeddingsAgreeWithFiniteDifferences) {
  TransformerConfig config = small_config();
  config.encoder_layers = 0, config.factorised_embedding = 6, config.positions = PositionKind::learned;
  for (const bool tied : {true, false}) {
    config.share_embeddings = config.tie_output = tied;
    check_language_model(config);
  }
}

}  // namespace
}  // namespace heed
