// What BERT and those that came of it (RoBERTa, ALBERT, MPNet, ViT) have alike in their configurations.
#pragma once

#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/pretrained/family.h"

namespace heed {

// The configuration with what the class of Hugging Face's that reads it has for fields that it leaves out, or null.
Json with_class_defaults(Json config, const std::vector<Json::Member>& defaults);
// The same of a BERT's extents of `words` words.
Json with_bert_defaults(Json config, Index words);

// An encoder alone: its extents, its activation, by default `activation`, and the epsilon of its norms; positions are
// learned. Throws heed::Error for what config.json does not say.
TransformerConfig bert_encoder(const Json& config, std::string_view activation);

// RoBERTa's positions: the padding's is its id, and those of the other tokens are counted from behind it. Throws
// heed::Error where there is no padding, or no positions behind it.
void count_behind_padding(const Json& config, Index padding, FamilyModel& model);

// RoBERTa's names of the heads for sequences and for masked words.
void name_roberta_heads(FamilyModel& model);

// Of those that read text: norms behind the layers and behind the sum of the embeddings of tokens, positions and types.
void add_bert_embeddings(const Json& config, TransformerConfig& to);

}  // namespace heed
