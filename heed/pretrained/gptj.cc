// GPT-J (Wang and Komatsuzaki 2021), whose sub-layers are beside each other and share a norm: GPTJForCausalLM.
#include <fmt/format.h>

#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_gptj(const Json& config) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"n_embd", "hidden_size"});
  c.heads = extent(config, {"n_head", "num_attention_heads"});
  c.ffn_width = extent_or(config, {"n_inner"}, 4 * c.width);
  c.encoder_layers = 0;
  c.decoder_layers = layer_count(config, {"n_layer", "num_hidden_layers"});
  c.activation = activation_of(find_field(config, {"activation_function"}).value_or("gelu_new"));
  c.norm_epsilon = number_or(config, {"layer_norm_epsilon"}, 1e-5);
  c.norm_place = NormPlace::parallel;
  c.positions = PositionKind::none;
  c.max_length = extent_or(config, {"n_positions", "max_position_embeddings"}, 2048);
  c.attention =
      AttentionChoice(fmt::format("rotary(width={}, interleaved=1)", nullable_extent(config, "rotary_dim", 64)));
  c.attention_bias = false;
  c.separate_projections = true;
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, false);
  c.output_bias = true;
  model.prefix = "transformer.";
  const std::string own = "decoder.layers.*.", theirs = "transformer.h.*.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"transformer.wte"}, .otherwise = tied_output(c, "lm_head")},
      {own + "self_attn.q_proj_weight", {theirs + "attn.q_proj.weight"}},
      {own + "self_attn.k_proj_weight", {theirs + "attn.k_proj.weight"}},
      {own + "self_attn.v_proj_weight", {theirs + "attn.v_proj.weight"}},
      {own + "self_attn.out_proj", {theirs + "attn.out_proj"}},
      {own + "linear1", {theirs + "mlp.fc_in"}},
      {own + "linear2", {theirs + "mlp.fc_out"}},
      {own + "norm1", {theirs + "ln_1"}},
      {own + "norm2", {theirs + "ln_1"}},
      {"decoder.norm", {"transformer.ln_f"}},
      {"generator", {"lm_head"}},
  };
  model.parts = {"transformer.h.*"};
  model.ignored = {".attn.bias", ".attn.masked_bias", ".attn.embed_positions"};
  model.heads = language_model_head_names(config, "classifier");
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config, 50256);
  return model;
}

}  // namespace heed
