// GPT-2 (Radford et al. 2019): GPT2LMHeadModel.
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_gpt2(const Json& config) {
  refuse_unless(config, "add_cross_attention", false);
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
  c.positions = PositionKind::learned;
  c.max_length = extent(config, {"n_positions", "n_ctx", "max_position_embeddings"});
  if (!flag_or(config, {"scale_attn_weights"}, true)) c.attention = AttentionChoice("dot");
  c.scores_by_layer = flag_or(config, {"scale_attn_by_inverse_layer_idx"}, false);
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  model.prefix = "transformer.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"transformer.wte"}, .otherwise = tied_output(c, "lm_head")},
      {"target_positions", {"transformer.wpe"}},
      {"decoder.layers.*.self_attn.in_proj_weight", {"transformer.h.*.attn.c_attn.weight"}, TensorLayout::transposed},
      {"decoder.layers.*.self_attn.in_proj_bias", {"transformer.h.*.attn.c_attn.bias"}},
      {"decoder.layers.*.self_attn.out_proj", {"transformer.h.*.attn.c_proj"}, TensorLayout::transposed},
      {"decoder.layers.*.linear1", {"transformer.h.*.mlp.c_fc"}, TensorLayout::transposed},
      {"decoder.layers.*.linear2", {"transformer.h.*.mlp.c_proj"}, TensorLayout::transposed},
      {"decoder.layers.*.norm1", {"transformer.h.*.ln_1"}},
      {"decoder.layers.*.norm2", {"transformer.h.*.ln_2"}},
      {"decoder.norm", {"transformer.ln_f"}},
      {"generator", {"lm_head"}},
  };
  model.parts = {"transformer.h.*"};
  model.ignored = {".attn.bias", ".attn.masked_bias"};
  model.heads = language_model_head_names(config, "classifier");
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config, 50256);
  return model;
}

}  // namespace heed
