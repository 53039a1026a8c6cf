// Phi 1, 1.5 and 2 (Gunasekar et al. 2023; Li et al. 2023), of GPT-J's build with biases: PhiForCausalLM.
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"
#include "heed/pretrained/rotary_notation.h"

namespace heed {

FamilyModel describe_phi(const Json& config) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"hidden_size"});
  c.heads = extent(config, {"num_attention_heads"});
  c.kv_heads = extent_or(config, {"num_key_value_heads"}, c.heads);
  c.ffn_width = extent(config, {"intermediate_size"});
  c.encoder_layers = 0;
  c.decoder_layers = layer_count(config, {"num_hidden_layers"});
  c.activation = activation_of(find_field(config, {"hidden_act"}).value_or("gelu_new"));
  c.norm_epsilon = number_or(config, {"layer_norm_eps"}, 1e-5);
  c.norm_place = NormPlace::parallel;
  c.positions = PositionKind::none;
  c.max_length = extent_or(config, {"max_position_embeddings"}, 2048);
  c.attention = rotary_attention(config, turned_features(config, "partial_rotary_factor", 0.5, c.width / c.heads));
  end_where_angles_change(config, model);
  c.separate_projections = true;
  c.query_key_norm = flag_or(config, {"qk_layernorm"}, false);
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, false);
  c.output_bias = true;
  model.prefix = "model.";
  const std::string own = "decoder.layers.*.", theirs = "model.layers.*.", attention = theirs + "self_attn.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"model.embed_tokens"}, .otherwise = tied_output(c, "lm_head")},
      {own + "self_attn.q_proj_weight", {attention + "q_proj.weight"}},
      {own + "self_attn.k_proj_weight", {attention + "k_proj.weight"}},
      {own + "self_attn.v_proj_weight", {attention + "v_proj.weight"}},
      {own + "self_attn.in_proj_bias",
       {attention + "q_proj.bias", attention + "k_proj.bias", attention + "v_proj.bias"}},
      {own + "self_attn.out_proj", {attention + "dense"}},
      {own + "self_attn.q_norm", {attention + "q_layernorm"}},
      {own + "self_attn.k_norm", {attention + "k_layernorm"}},
      {own + "linear1", {theirs + "mlp.fc1"}},
      {own + "linear2", {theirs + "mlp.fc2"}},
      {own + "norm1", {theirs + "input_layernorm"}},
      {own + "norm2", {theirs + "input_layernorm"}},
      {"decoder.norm", {"model.final_layernorm"}},
      {"generator", {"lm_head"}},
  };
  model.parts = {"model.layers.*"};
  model.ignored = {".rotary_emb.inv_freq"};
  model.heads = language_model_head_names(config, "classifier");
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config, 2);
  return model;
}

}  // namespace heed
