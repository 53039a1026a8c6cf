#include "heed/pretrained/bert_layers.h"

#include <string>
#include <utility>

#include "heed/pretrained/config_fields.h"

namespace heed {

Json with_class_defaults(Json config, const std::vector<Json::Member>& defaults) {
  for (const auto& [name, value] : defaults) {
    if (!find_field(config, {name})) config.set(name, value);
  }
  return config;
}

Json with_bert_defaults(Json config, Index words) {
  return with_class_defaults(std::move(config), {{"vocab_size", words},
                                                 {"hidden_size", 768},
                                                 {"num_hidden_layers", 12},
                                                 {"num_attention_heads", 12},
                                                 {"intermediate_size", 3072},
                                                 {"max_position_embeddings", 512}});
}

TransformerConfig bert_encoder(const Json& config, std::string_view activation) {
  TransformerConfig c;
  c.width = extent(config, {"hidden_size"});
  c.heads = extent(config, {"num_attention_heads"});
  c.ffn_width = extent(config, {"intermediate_size"});
  c.encoder_layers = layer_count(config, {"num_hidden_layers"});
  c.decoder_layers = 0;
  c.activation = activation_of(find_field(config, {"hidden_act"}).value_or(Json(std::string(activation))));
  c.norm_epsilon = number_or(config, {"layer_norm_eps"}, 1e-12);
  c.positions = PositionKind::learned;
  c.separate_projections = true;
  return c;
}

void count_behind_padding(const Json& config, Index padding, FamilyModel& model) {
  TransformerConfig& c = model.config;
  c.padding_token = padding;
  if (c.padding_token < 0) config["pad_token_id"].refuse("must be an id, from which positions are counted");
  if (c.max_length < c.padding_token + 3) {
    config["max_position_embeddings"].refuse("leaves no positions behind the padding's");
  }
  c.max_length -= c.padding_token + 1;
  for (TensorRule& rule : model.rules) {
    if (rule.parameter == "source_positions") rule.first_row = c.padding_token;
  }
}

void name_roberta_heads(FamilyModel& model) {
  EncoderHeadNames& heads = *model.heads;
  heads.sequence_pooler = "classifier.dense";
  heads.sequences = "classifier.out_proj";
  heads.masked_dense = "lm_head.dense";
  heads.masked_norm = "lm_head.layer_norm";
  heads.masked_output = "lm_head.decoder";
  heads.masked_bias = {"lm_head.bias", "lm_head.decoder.bias"};
  heads.masked_gelu = true;
}

void add_bert_embeddings(const Json& config, TransformerConfig& to) {
  to.source_vocabulary = to.target_vocabulary = extent(config, {"vocab_size"});
  to.norm_place = NormPlace::post;
  to.max_length = extent(config, {"max_position_embeddings"});
  to.token_types = extent_or(config, {"type_vocab_size"}, 2);
  to.embedding_scale = 1;
  to.embedding_norm = true;
  to.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
}

}  // namespace heed
