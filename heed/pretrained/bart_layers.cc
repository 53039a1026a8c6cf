#include "heed/pretrained/bart_layers.h"

#include <fmt/format.h>

#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

// Encoder and decoder are of one build in heed; theirs could differ.
Index shared_extent(const Json& config, std::string_view of_encoder, std::string_view of_decoder) {
  const Index extent_of_encoder = extent(config, {of_encoder});
  const Json other = config[of_decoder];
  if (other.integer() != extent_of_encoder) other.refuse(fmt::format("must be {}'s {}", of_encoder, extent_of_encoder));
  return extent_of_encoder;
}

void add_attention(std::vector<TensorRule>& rules, const std::string& own, const std::string& theirs,
                   KeyBias key_bias) {
  TensorRule bias{own + ".in_proj_bias", {}};
  for (const std::string part : {"q", "k", "v"}) {
    const std::string projection = fmt::format("{}.{}_proj", theirs, part);
    rules.push_back({fmt::format("{}.{}_proj_weight", own, part), {projection + ".weight"}});
    bias.tensors.push_back(part == "k" && key_bias == KeyBias::none ? "" : projection + ".bias");
  }
  rules.push_back(bias);
  rules.push_back({own + ".out_proj", {theirs + ".out_proj"}});
}

}  // namespace

FamilyModel describe_bart_layers(const Json& config, KeyBias key_bias) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"d_model"});
  c.heads = shared_extent(config, "encoder_attention_heads", "decoder_attention_heads");
  c.ffn_width = shared_extent(config, "encoder_ffn_dim", "decoder_ffn_dim");
  c.encoder_layers = layer_count(config, {"encoder_layers"});
  c.decoder_layers = layer_count(config, {"decoder_layers"});
  c.activation = activation_of(find_field(config, {"activation_function"}).value_or("gelu"));
  c.positions = PositionKind::learned;
  c.embedding_scale = flag_or(config, {"scale_embedding"}, false) ? 0 : 1;
  c.separate_projections = true;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  for (const std::string side : {"encoder", "decoder"}) {
    const bool decoder = side == "decoder";
    const std::string own = side + ".layers.*", theirs = "model." + side + ".layers.*";
    add_attention(model.rules, own + ".self_attn", theirs + ".self_attn", key_bias);
    if (decoder) add_attention(model.rules, own + ".multihead_attn", theirs + ".encoder_attn", key_bias);
    model.rules.push_back({own + ".linear1", {theirs + ".fc1"}});
    model.rules.push_back({own + ".linear2", {theirs + ".fc2"}});
    model.rules.push_back({own + ".norm1", {theirs + ".self_attn_layer_norm"}});
    if (decoder) model.rules.push_back({own + ".norm2", {theirs + ".encoder_attn_layer_norm"}});
    model.rules.push_back({own + (decoder ? ".norm3" : ".norm2"), {theirs + ".final_layer_norm"}});
    model.rules.push_back({side + ".norm", {"model." + side + ".layer_norm"}});
    model.parts.push_back(theirs);
  }
  model.begin = id_or(config, {"decoder_start_token_id"}, -1);
  model.pad = id_or(config, {"pad_token_id"}, -1);
  model.ends = end_ids(config);
  return model;
}

}  // namespace heed
