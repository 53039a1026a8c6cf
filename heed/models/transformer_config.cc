#include "heed/models/transformer_config.h"

#include "heed/base/check.h"

namespace heed {

double TransformerConfig::weight_count() const {
  const double w = static_cast<double>(width), feed_forward = 2 * w * static_cast<double>(hidden);
  const double shared = key_value_heads > 0 ? static_cast<double>(key_value_heads) / static_cast<double>(heads) : 1;
  const double projections = 2 * w * w * (1 + shared);  // queries and output, keys and values
  const double tables = share_embeddings
                            ? static_cast<double>(source_vocabulary)
                            : static_cast<double>(source_vocabulary) + static_cast<double>(target_vocabulary);
  return (tables + (tie_output ? 0 : static_cast<double>(target_vocabulary))) * w +
         static_cast<double>(encoder_layers) * (projections + feed_forward) +
         static_cast<double>(decoder_layers) * (2 * projections + feed_forward);
}

Mask TransformerConfig::self_attention_mask() const {
  switch (attention) {
    case SelfAttentionKind::softmax:
    case SelfAttentionKind::linear:
      return {};
    case SelfAttentionKind::local:
      return Mask::sliding_window(attention_window, attention_window);
    case SelfAttentionKind::strided:
      return Mask::strided({.stride = attention_stride});
    case SelfAttentionKind::fixed:
      return Mask::fixed({.block = attention_block, .summary = attention_summary});
    case SelfAttentionKind::bigbird:
      return Mask::bigbird({.block = attention_block,
                            .window = 3,
                            .global = attention_global,
                            .random = attention_random,
                            .positions = max_length});
  }
  fail("Transformer: attention {} is none", static_cast<int>(attention));
}

void TransformerConfig::check() const {
  const auto at_least_one = [](Index value, std::string_view name) {
    HEED_CHECK(value >= 1 && value <= 1 << 24, "Transformer: {} must be from 1 to {}, but is {}", name, 1 << 24, value);
  };
  at_least_one(source_vocabulary, "source_vocabulary");
  at_least_one(target_vocabulary, "target_vocabulary");
  at_least_one(width, "width");
  at_least_one(heads, "heads");
  at_least_one(hidden, "hidden");
  HEED_CHECK(max_length >= 2 && max_length <= 1 << 16, "Transformer: max_length must be from 2 to {}, but is {}",
             1 << 16, max_length);
  for (Index layers : {encoder_layers, decoder_layers}) {
    HEED_CHECK(layers >= 1 && layers <= 1024,
               "Transformer: encoder_layers and decoder_layers must be from 1 to 1024, but are {} and {}",
               encoder_layers, decoder_layers);
  }
  HEED_CHECK(width % heads == 0, "Transformer: width {} must be a multiple of heads {}", width, heads);
  HEED_CHECK(!share_embeddings || source_vocabulary == target_vocabulary,
             "Transformer: share_embeddings needs equal vocabularies, but they have {} and {} pieces",
             source_vocabulary, target_vocabulary);
  const auto probability = [](double value, std::string_view name) {
    HEED_CHECK(value >= 0 && value < 1, "Transformer: {} must be at least 0 and below 1, but is {}", name, value);
  };
  probability(dropout, "dropout");
  probability(attention_dropout, "attention_dropout");
  probability(activation_dropout, "activation_dropout");
  HEED_CHECK(key_value_heads >= 0 && (key_value_heads == 0 || heads % key_value_heads == 0),
             "Transformer: key_value_heads must be 0 or a divisor of the {} heads, but is {}", heads, key_value_heads);
  at_least_one(attention_stride, "attention_stride");
  at_least_one(attention_block, "attention_block");
  for (Index count : {attention_window, attention_summary, attention_global, attention_random}) {
    HEED_CHECK(
        count >= 0 && count <= 1 << 24,
        "Transformer: attention_window, attention_summary, attention_global and attention_random must be from 0 to {}, "
        "but one is {}",
        1 << 24, count);
  }
  constexpr Index kMostRandom = 16;  // of Mask::bigbird
  HEED_CHECK(attention_random <= kMostRandom, "Transformer: attention_random must be at most {}, but is {}",
             kMostRandom, attention_random);
  HEED_CHECK(attention_summary <= attention_block,
             "Transformer: attention_summary must be at most attention_block, but they are {} and {}",
             attention_summary, attention_block);
}

}  // namespace heed
