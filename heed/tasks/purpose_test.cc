#include "heed/tasks/purpose.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

ModelConfig layers(Index encoder, Index decoder) {
  ModelConfig config;
  config.transformer.encoder_layers = encoder, config.transformer.decoder_layers = decoder;
  return config;
}

ModelConfig with_classes(Index encoder, Index decoder, ClassifierKind classifier) {
  ModelConfig config = layers(encoder, decoder);
  config.transformer.encoder_heads.classifier = classifier;
  config.transformer.has_output = false;
  return config;
}

TEST(Purpose, FollowsFromTheParts) {
  EXPECT_EQ(purpose_of(layers(1, 1)), "translates text (translate)");
  EXPECT_EQ(purpose_of(layers(0, 1)), "continues text (generate)");
  EXPECT_EQ(purpose_of(layers(1, 0)), "turns text into vectors (embed)");
  ModelConfig recurrent;
  recurrent.kind = ModelKind::rnn;
  EXPECT_EQ(purpose_of(recurrent), "translates text (translate)");
  EXPECT_EQ(purpose_of(with_classes(1, 0, ClassifierKind::tokens)),
            "tells the class of each token (classify), turns text into vectors (embed)");
  EXPECT_EQ(purpose_of(with_classes(0, 1, ClassifierKind::sequence)),
            "tells the class of a text (classify), turns text into vectors (embed)");
}

TEST(Purpose, OfWhatReadsASignal) {
  ModelConfig sees = layers(1, 0), hears = layers(1, 1);
  sees.transformer.signal.kind = SignalKind::picture, hears.transformer.signal.kind = SignalKind::sound;
  EXPECT_EQ(purpose_of(sees), "sees pictures (view --image)");
  sees.transformer.encoder_heads.classifier = ClassifierKind::sequence;
  EXPECT_EQ(purpose_of(sees), "sees pictures and tells their class (classify MODEL PICTURE)");
  sees.transformer.decoder_layers = 1;
  EXPECT_EQ(purpose_of(sees), "tells what pictures show (translate --image)");
  EXPECT_EQ(purpose_of(hears), "hears sound (transcribe)");
}

TEST(Purpose, IsToldWithTheModelsName) {
  EXPECT_NO_THROW(check_purpose(true, layers(0, 1), "gpt2", "translates no text"));
  EXPECT_EQ(testing::refusal([] { check_purpose(false, layers(0, 1), "gpt2", "translates no text"); }),
            "gpt2: translates no text: it continues text (generate)");
}

}  // namespace
}  // namespace heed
