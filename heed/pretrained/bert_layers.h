// What BERT and those that came of it (RoBERTa, ALBERT, ViT) have alike in their configurations.
#pragma once

#include <string_view>

#include "heed/io/json.h"
#include "heed/models/transformer_config.h"

namespace heed {

// An encoder alone: its extents, its activation, by default `activation`, and the epsilon of its norms; positions are
// learned. Throws heed::Error for what config.json does not say.
TransformerConfig bert_encoder(const Json& config, std::string_view activation);

// Of those that read text: norms behind the layers and behind the sum of the embeddings of tokens, positions and types.
void add_bert_embeddings(const Json& config, TransformerConfig& to);

}  // namespace heed
