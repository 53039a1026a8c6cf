// DistilBERT (Sanh et al. 2019).
#include "heed/pretrained/bert_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_distilbert(const Json& given) {
  const Json config =
      with_class_defaults(given, {{"vocab_size", 30522}, {"hidden_dim", 3072}, {"max_position_embeddings", 512}});
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent_or(config, {"dim", "hidden_size"}, 768);
  c.heads = extent_or(config, {"n_heads", "num_attention_heads"}, 12);
  c.ffn_width = extent(config, {"hidden_dim"});
  const bool says_layers = find_field(config, {"n_layers", "num_hidden_layers"}).has_value();
  c.encoder_layers = says_layers ? layer_count(config, {"n_layers", "num_hidden_layers"}) : 6;
  c.decoder_layers = 0;
  c.activation = activation_of(find_field(config, {"activation"}).value_or("gelu"));
  c.norm_epsilon = 1e-12;
  c.norm_place = NormPlace::post;
  c.positions = PositionKind::learned;  // tables of sinusoids are in the file too
  c.max_length = extent(config, {"max_position_embeddings"});
  c.separate_projections = true;
  c.embedding_scale = 1;
  c.embedding_norm = true;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  model.prefix = "distilbert.";
  const std::string layer = "distilbert.transformer.layer.*.";
  model.rules = {
      {"embedding", {"distilbert.embeddings.word_embeddings"}},
      {"source_positions", {"distilbert.embeddings.position_embeddings"}},
      {"source_norm", {"distilbert.embeddings.LayerNorm"}},
      {"encoder.layers.*.self_attn.q_proj_weight", {layer + "attention.q_lin.weight"}},
      {"encoder.layers.*.self_attn.k_proj_weight", {layer + "attention.k_lin.weight"}},
      {"encoder.layers.*.self_attn.v_proj_weight", {layer + "attention.v_lin.weight"}},
      {"encoder.layers.*.self_attn.in_proj_bias",
       {layer + "attention.q_lin.bias", layer + "attention.k_lin.bias", layer + "attention.v_lin.bias"}},
      {"encoder.layers.*.self_attn.out_proj", {layer + "attention.out_lin"}},
      {"encoder.layers.*.norm1", {layer + "sa_layer_norm"}},
      {"encoder.layers.*.linear1", {layer + "ffn.lin1"}},
      {"encoder.layers.*.linear2", {layer + "ffn.lin2"}},
      {"encoder.layers.*.norm2", {layer + "output_layer_norm"}},
  };
  model.parts = {"distilbert.transformer.layer.*"};
  model.pad = id_or(config, {"pad_token_id"}, -1);
  model.heads = encoder_head_names(config);
  EncoderHeadNames& heads = *model.heads;
  heads.sequence_pooler = heads.choice_pooler = "pre_classifier";
  heads.sequence_pooler_kind = heads.choice_pooler_kind = PoolerKind::relu;
  heads.sequences = heads.choices = heads.tokens = "classifier";
  heads.spans = "qa_outputs";
  heads.masked_dense = "vocab_transform";
  heads.masked_norm = "vocab_layer_norm";
  heads.masked_output = "vocab_projector";
  heads.masked_bias = {"vocab_projector.bias"};
  return model;
}

}  // namespace heed
