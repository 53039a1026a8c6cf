#include "heed/models/transformer_config.h"

#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {

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
  check_ranges(*this, "Transformer");
  HEED_CHECK(width % heads == 0, "Transformer: width {} must be a multiple of heads {}", width, heads);
  HEED_CHECK(!share_embeddings || source_vocabulary == target_vocabulary,
             "Transformer: share_embeddings needs equal vocabularies, but they have {} and {} pieces",
             source_vocabulary, target_vocabulary);
  HEED_CHECK(key_value_heads == 0 || heads % key_value_heads == 0,
             "Transformer: key_value_heads must be 0 or a divisor of the {} heads, but is {}", heads, key_value_heads);
  HEED_CHECK(attention_summary <= attention_block,
             "Transformer: attention_summary must be at most attention_block, but they are {} and {}",
             attention_summary, attention_block);
}

}  // namespace heed
