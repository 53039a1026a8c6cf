// OPT (Zhang et al. 2022): OPTForCausalLM.
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_opt(const Json& config) {
  refuse_unless(config, "layer_norm_elementwise_affine", true);
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"hidden_size"});
  const Index embedding_width = extent_or(config, {"word_embed_proj_dim"}, c.width);
  if (embedding_width != c.width) c.factorised_embedding = embedding_width;
  c.heads = extent(config, {"num_attention_heads"});
  c.ffn_width = extent(config, {"ffn_dim"});
  c.encoder_layers = 0;
  c.decoder_layers = layer_count(config, {"num_hidden_layers"});
  c.activation = activation_of(find_field(config, {"activation_function"}).value_or("relu"));
  c.norm_place = flag_or(config, {"do_layer_norm_before"}, true) ? NormPlace::pre : NormPlace::post;
  c.attention_bias = c.ffn_bias = flag_or(config, {"enable_bias"}, true);
  // Of models that were trained further by a library that had forgotten the norm.
  if (flag_or(config, {"_remove_final_layer_norm"}, false)) c.final_norm = FinalNorm::never;
  c.positions = PositionKind::learned;
  c.max_length = extent(config, {"max_position_embeddings"});
  c.separate_projections = true;
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  model.prefix = "model.";
  const std::string own = "decoder.layers.*.", theirs = "model.decoder.layers.*.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"model.decoder.embed_tokens"}, .otherwise = tied_output(c, "lm_head")},
      {"target_projection", {"model.decoder.project_in"}},
      {"output_projection", {"model.decoder.project_out"}},
      // Its positions begin behind two rows that were kept for padding.
      {"target_positions.weight", {"model.decoder.embed_positions.weight"}, {}, /*first_row=*/2},
      {own + "self_attn.q_proj_weight", {theirs + "self_attn.q_proj.weight"}},
      {own + "self_attn.k_proj_weight", {theirs + "self_attn.k_proj.weight"}},
      {own + "self_attn.v_proj_weight", {theirs + "self_attn.v_proj.weight"}},
      {own + "self_attn.in_proj_bias",
       {theirs + "self_attn.q_proj.bias", theirs + "self_attn.k_proj.bias", theirs + "self_attn.v_proj.bias"}},
      {own + "self_attn.out_proj", {theirs + "self_attn.out_proj"}},
      {own + "linear1", {theirs + "fc1"}},
      {own + "linear2", {theirs + "fc2"}},
      {own + "norm1", {theirs + "self_attn_layer_norm"}},
      {own + "norm2", {theirs + "final_layer_norm"}},
      {"generator", {"lm_head"}},
  };
  // A file may have one that the class does not.
  if (c.has_final_norm(/*decoder=*/true)) model.rules.push_back({"decoder.norm", {"model.decoder.final_layer_norm"}});
  model.parts = {"model.decoder.layers.*"};
  model.heads = language_model_head_names(config, "classifier");
  model.begin = id_or(config, {"bos_token_id"}, 2);
  model.ends = end_ids(config, 2);
  return model;
}

}  // namespace heed
