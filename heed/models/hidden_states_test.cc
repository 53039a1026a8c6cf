// What a Transformer shows of its layers.
#include <gtest/gtest.h>

#include "heed/layers/drawn_parameters.h"
#include "heed/layers/given_parameters.h"
#include "heed/models/small_batch.h"
#include "heed/models/transformer.h"
#include "heed/observe/hidden_recorder.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::same_bits;

TransformerConfig config_of(Index encoder_layers, Index decoder_layers, NormPlace place) {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 11;
  config.width = 8, config.heads = 2, config.ffn_width = 10;
  config.encoder_layers = encoder_layers, config.decoder_layers = decoder_layers;
  config.max_length = 12;
  config.norm_place = place;
  return config;
}

// Without a norm at the end, what a layer gives is what a stack that ends there gives.
TEST(HiddenStates, AreWhatStacksThatEndEarlierGive) {
  constexpr Index kLayers = 3;
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config_of(kLayers, kLayers, NormPlace::post));
  const SequenceBatch batch = small_batch();
  Workspace workspace;
  HiddenRecorder encoder(EmbeddedSide::source, 0, kLayers), decoder(EmbeddedSide::decoder, 0, kLayers);
  model.encode(Context::inference(workspace, &encoder), batch.source);
  model.features(Context::inference(workspace, &decoder), batch);
  for (Index layers = 1; layers <= kLayers; ++layers) {
    GivenParameters given(drawn.list(), "the model"), again(drawn.list(), "the model");
    const Transformer of_encoder(given, config_of(layers, 1, NormPlace::post)),
        of_decoder(again, config_of(kLayers, layers, NormPlace::post));
    const Context context = Context::inference(workspace);
    EXPECT_TRUE(same_bits(encoder.layer(layers).view(), of_encoder.encode(context, batch.source).value().view()));
    EXPECT_TRUE(same_bits(decoder.layer(layers).view(), of_decoder.features(context, batch).value().view()));
  }
}

TEST(HiddenStates, BeginWithTheEmbeddingsAndEndBehindTheLastNorm) {
  struct Embeddings : HiddenRecorder {
    using HiddenRecorder::HiddenRecorder;
    bool wants_embeddings(EmbeddedSide side) const override { return side == EmbeddedSide::source; }
    void on_embeddings(EmbeddedSide, ConstView, ConstView placed) override { after = Tensor::copy_of(placed); }
    Tensor after;
  };
  DrawnParameters drawn(Rng(2));
  const Transformer model(drawn, config_of(2, 1, NormPlace::pre));
  Workspace workspace;
  Embeddings seen(EmbeddedSide::source, 0, 2);
  const Var encoded = model.encode(Context::inference(workspace, &seen), small_batch().source);
  EXPECT_TRUE(same_bits(seen.layer(0).view(), seen.after.view()));
  EXPECT_TRUE(same_bits(seen.layer(2).view(), encoded.value().view()));
}

// As Hugging Face's ViT has it, whose encoder has no norm at its end, but whose model has one.
TEST(HiddenStates, OfAPictureEndBeforeTheLastNorm) {
  TransformerConfig config = config_of(2, 0, NormPlace::pre);
  config.signal = {.kind = SignalKind::picture, .channels = 1, .height = 4, .width = 4, .patch = 2};
  DrawnParameters drawn(Rng(3));
  const Transformer model(drawn, config);
  GivenParameters given(drawn.list(), "the model");
  const Norm norm(ParameterScope(given) / "encoder.norm", config.norm, config.width, config.norm_epsilon);
  Workspace workspace;
  HiddenRecorder recorder(EmbeddedSide::source, 0, 2);
  const TokenBatch picture{.signal = testing::random_tensor(DType::f32, {1, 1, 4, 4}, 4)};
  const Var seen = model.encode(Context::inference(workspace, &recorder), picture);
  const Var last(recorder.layer(2));
  EXPECT_FALSE(same_bits(seen.value().view(), last.value().view()));
  EXPECT_TRUE(same_bits(seen.value().view(), norm.forward(Context::inference(workspace), last).value().view()));
}

}  // namespace
}  // namespace heed
