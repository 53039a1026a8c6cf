#include "heed/models/transformer_config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/small_transformers_test.h"
#include "heed/models/transformer.h"

namespace heed {
namespace {

using testing::small_config;

TEST(Transformer, RefusesConfigurationsThatMakeNoSense) {
  const auto refused = [](auto change) {
    TransformerConfig config = small_config();
    change(config);
    ListedParameters listed;
    EXPECT_THROW(Transformer(listed, config), Error);
  };
  refused([](TransformerConfig& c) { c.heads = 3; });
  refused([](TransformerConfig& c) { c.heads = 0; });
  refused([](TransformerConfig& c) { c.decoder_layers = c.encoder_layers = 0; });
  refused([](TransformerConfig& c) { c.norm_place = NormPlace::parallel; });
  refused([](TransformerConfig& c) { c.dropout = 1; });
  refused([](TransformerConfig& c) { c.target_vocabulary = 12; });
  refused([](TransformerConfig& c) { c.max_length = Index{1} << 40; });
  refused([](TransformerConfig& c) { c.kv_heads = 3; });
  refused([](TransformerConfig& c) { c.kv_heads = -1; });
  refused([](TransformerConfig& c) { c.attention = AttentionChoice("fixed(block=8, summary=9)"); });
  refused([](TransformerConfig& c) { c.attention = AttentionChoice("rotary(width=16)"); });
  refused([](TransformerConfig& c) { c.cross_attention = AttentionChoice("window(2)"); });
  refused([](TransformerConfig& c) { c.factorised_embedding = 4; });
  refused([](TransformerConfig& c) { c.scores_by_layer = true, c.attention = AttentionChoice("cosine"); });
}

TEST(Transformer, ScoresByLayerAreDividedByItsNumber) {
  TransformerConfig config = small_config();  // heads of 4
  config.scores_by_layer = true;
  EXPECT_EQ(config.block(true, 0).self_attention.text(), "dot(scale=0.5)");
  EXPECT_EQ(config.block(true, 1).self_attention.text(), "dot(scale=0.25)");
  config.attention = AttentionChoice("dot");
  EXPECT_EQ(config.block(true, 3).self_attention.text(), "dot(scale=0.25)");
}

TEST(Transformer, LayersThatAlternateAreLayers) {
  TransformerConfig config = small_config();
  config.alternate = true, config.alternate_layers = {config.decoder_layers - 1};
  config.check();
  for (const Index wrong : {Index{-1}, std::max(config.encoder_layers, config.decoder_layers)}) {
    config.alternate_layers = {wrong};
    EXPECT_THROW(config.check(), Error) << wrong;
  }
}

}  // namespace
}  // namespace heed
