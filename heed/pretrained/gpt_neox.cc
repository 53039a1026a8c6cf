// GPT-NeoX and Pythia (Black et al. 2022): GPTNeoXForCausalLM.
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"
#include "heed/pretrained/rotary_notation.h"

namespace heed {

FamilyModel describe_gpt_neox(const Json& config) {
  refuse_unless(config, "is_causal", true);
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"hidden_size"});
  c.heads = extent(config, {"num_attention_heads"});
  c.ffn_width = extent(config, {"intermediate_size"});
  c.encoder_layers = 0;
  c.decoder_layers = layer_count(config, {"num_hidden_layers"});
  c.activation = activation_of(find_field(config, {"hidden_act"}).value_or("gelu"));
  c.norm_epsilon = number_or(config, {"layer_norm_eps"}, 1e-5);
  c.norm_place = flag_or(config, {"use_parallel_residual"}, true) ? NormPlace::parallel : NormPlace::pre;
  c.attention_bias = flag_or(config, {"attention_bias"}, true);
  c.positions = PositionKind::none;
  c.max_length = extent_or(config, {"max_position_embeddings"}, 2048);
  c.attention =
      rotary_attention(config, turned_features(config, "rotary_pct", 0.25, c.width / c.heads), "rotary_emb_base");
  end_where_angles_change(config, model);
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, false);
  model.prefix = "gpt_neox.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"gpt_neox.embed_in"}, .otherwise = tied_output(c, "embed_out")},
      {"decoder.layers.*.self_attn.in_proj_weight",
       {"gpt_neox.layers.*.attention.query_key_value.weight"},
       TensorLayout::heads_apart},
      {"decoder.layers.*.self_attn.in_proj_bias",
       {"gpt_neox.layers.*.attention.query_key_value.bias"},
       TensorLayout::heads_apart},
      {"decoder.layers.*.self_attn.out_proj", {"gpt_neox.layers.*.attention.dense"}},
      {"decoder.layers.*.linear1", {"gpt_neox.layers.*.mlp.dense_h_to_4h"}},
      {"decoder.layers.*.linear2", {"gpt_neox.layers.*.mlp.dense_4h_to_h"}},
      {"decoder.layers.*.norm1", {"gpt_neox.layers.*.input_layernorm"}},
      {"decoder.layers.*.norm2", {"gpt_neox.layers.*.post_attention_layernorm"}},
      {"decoder.norm", {"gpt_neox.final_layer_norm"}},
      {"generator", {"embed_out"}},
  };
  model.parts = {"gpt_neox.layers.*"};
  model.ignored = {".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"};
  model.heads = language_model_head_names(config, "classifier");
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config, 2);
  return model;
}

}  // namespace heed
