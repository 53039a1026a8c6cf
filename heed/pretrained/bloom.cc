// BLOOM (Le Scao et al. 2022), with ALiBi: BloomForCausalLM.
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_bloom(const Json& config) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"hidden_size", "n_embed"});
  c.heads = extent(config, {"n_head", "num_attention_heads"});
  c.ffn_width = 4 * c.width;
  c.encoder_layers = 0;
  c.decoder_layers = layer_count(config, {"n_layer", "num_hidden_layers"});
  c.activation = Activation::gelu_tanh;
  c.norm_epsilon = number_or(config, {"layer_norm_epsilon"}, 1e-5);
  if (flag_or(config, {"apply_residual_connection_post_layernorm"}, false)) c.norm_place = NormPlace::residual;
  c.positions = PositionKind::none;
  c.max_length = kUnboundedLength;
  c.attention = AttentionChoice("alibi");
  c.embedding_scale = 1;
  c.embedding_norm = true;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  model.prefix = "transformer.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"transformer.word_embeddings"}, .otherwise = tied_output(c, "lm_head")},
      {"target_norm", {"transformer.word_embeddings_layernorm"}},
      {"decoder.layers.*.self_attn.in_proj_weight",
       {"transformer.h.*.self_attention.query_key_value.weight"},
       TensorLayout::heads_apart},
      {"decoder.layers.*.self_attn.in_proj_bias",
       {"transformer.h.*.self_attention.query_key_value.bias"},
       TensorLayout::heads_apart},
      {"decoder.layers.*.self_attn.out_proj", {"transformer.h.*.self_attention.dense"}},
      {"decoder.layers.*.linear1", {"transformer.h.*.mlp.dense_h_to_4h"}},
      {"decoder.layers.*.linear2", {"transformer.h.*.mlp.dense_4h_to_h"}},
      {"decoder.layers.*.norm1", {"transformer.h.*.input_layernorm"}},
      {"decoder.layers.*.norm2", {"transformer.h.*.post_attention_layernorm"}},
      {"decoder.norm", {"transformer.ln_f"}},
      {"generator", {"lm_head"}},
  };
  model.parts = {"transformer.h.*"};
  model.heads = language_model_head_names(config, "classifier");
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config, 2);
  return model;
}

}  // namespace heed
