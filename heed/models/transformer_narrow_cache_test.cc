// A Transformer whose steps keep their keys and values in fewer bits.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/io/fields.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/small_batch.h"
#include "heed/models/small_transformers_test.h"
#include "heed/models/transformer.h"
#include "heed/tensor/precision.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::small_config;
using testing::variants;
using Ids = std::vector<std::int32_t>;

TEST(Transformer, ANarrowCacheRoundsKeysAndValues) {
  TransformerConfig config = small_config();
  config.width = 32, config.heads = 4, config.ffn_width = 64;
  config.attention = AttentionChoice("rotary");
  const auto logits_of = [&](const TransformerConfig& shape, Precision cache) {
    DrawnParameters drawn(Rng(1));
    const Transformer model(drawn, shape);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const auto state = admitted(model, context, small_batch().source, cache);
    Tensor logits;
    for (std::int32_t token : {2, 9, 4, 6}) logits = model.step(context, *state, Ids{5, token});
    return logits;
  };
  for (const Index encoders : {1, 0}) {
    config.encoder_layers = encoders;
    const Tensor exact = logits_of(config, Precision::f32);
    // Half a unit in the last place of numbers of about 1, and half a hundred-and-twenty-seventh of the largest.
    for (const auto& [cache, rounding] : {std::pair(Precision::bf16, 1.0 / 256), std::pair(Precision::f16, 1.0 / 2048),
                                          std::pair(Precision::int8, 1.0 / 127)}) {
      const double difference = testing::largest_difference(logits_of(config, cache), exact);
      EXPECT_GT(difference, 0) << enum_name(cache);
      EXPECT_LT(difference, rounding) << enum_name(cache);
    }
  }
}

TEST(Transformer, EverySelfAttentionReadsANarrowCache) {
  for (const auto& [name, config] : variants()) {
    DrawnParameters drawn(Rng(1));
    const Transformer model(drawn, config);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const TokenBatch source = small_batch().source;
    for (const auto& [type, cache] : kPrecisionNames) {
      const auto exact = admitted(model, context, source), state = admitted(model, context, source, cache);
      for (std::int32_t token : {2, 9, 4, 6}) {
        const Tensor logits = model.step(context, *state, Ids{5, token});
        EXPECT_LT(testing::largest_difference(logits, model.step(context, *exact, Ids{5, token})), 0.05)
            << name << ", " << type;
      }
    }
  }
}

TEST(Transformer, ADecoderThatKeepsNoKeysRefusesToKeepThemNarrow) {
  TransformerConfig config = small_config();
  config.causal = false;
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  EXPECT_NE(testing::refusal([&] { model.start(Precision::int8); }).find("none to keep in int8"), std::string::npos);
}

}  // namespace
}  // namespace heed
