// Llama 2 and 3 (Touvron et al. 2023; Dubey et al. 2024) and those of the same build: Mistral, Qwen 2 and 3, Gemma 1
// and 2. ...ForCausalLM.
#include <fmt/format.h>

#include <cmath>

#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"
#include "heed/pretrained/rotary_notation.h"

namespace heed {
namespace {

// What all of them have.
FamilyModel describe_decoder(const Json& config) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"hidden_size"});
  c.heads = extent(config, {"num_attention_heads"});
  c.kv_heads = extent_or(config, {"num_key_value_heads"}, c.heads);
  c.head_width = extent_or(config, {"head_dim"}, c.width / c.heads);
  c.ffn_width = extent(config, {"intermediate_size"});
  c.encoder_layers = 0;
  c.decoder_layers = extent(config, {"num_hidden_layers"});
  c.activation = activation_of(find_field(config, {"hidden_act", "hidden_activation"}).value_or("silu"));
  c.gated = true;
  c.norm = NormKind::rms;
  c.norm_epsilon = number_or(config, {"rms_norm_eps"}, 1e-6);
  c.positions = PositionKind::none;
  c.max_length = extent_or(config, {"max_position_embeddings"}, 2048);
  c.attention = rotary_attention(config, c.head_width);
  c.attention_bias = c.attention_out_bias = flag_or(config, {"attention_bias"}, false);
  c.ffn_bias = flag_or(config, {"mlp_bias"}, false);
  c.separate_projections = true;
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, false);
  model.prefix = "model.";
  model.rules = {
      {"embedding", {"model.embed_tokens"}},
      {"decoder.layers.*.self_attn.q_proj_weight", {"model.layers.*.self_attn.q_proj.weight"}},
      {"decoder.layers.*.self_attn.k_proj_weight", {"model.layers.*.self_attn.k_proj.weight"}},
      {"decoder.layers.*.self_attn.v_proj_weight", {"model.layers.*.self_attn.v_proj.weight"}},
      {"decoder.layers.*.self_attn.in_proj_bias",
       {"model.layers.*.self_attn.q_proj.bias", "model.layers.*.self_attn.k_proj.bias",
        "model.layers.*.self_attn.v_proj.bias"}},
      {"decoder.layers.*.self_attn.out_proj", {"model.layers.*.self_attn.o_proj"}},
      {"decoder.layers.*.self_attn", {"model.layers.*.self_attn"}},  // q_norm, k_norm
      {"decoder.layers.*.linear1", {"model.layers.*.mlp.up_proj"}},
      {"decoder.layers.*.linear_gate", {"model.layers.*.mlp.gate_proj"}},
      {"decoder.layers.*.linear2", {"model.layers.*.mlp.down_proj"}},
      {"decoder.layers.*.norm1", {"model.layers.*.input_layernorm"}},
      {"decoder.layers.*.norm2", {"model.layers.*.post_attention_layernorm"}},
      {"decoder.norm", {"model.norm"}},
      {"generator", {"lm_head"}},
  };
  model.parts = {"model.layers.*"};
  model.ignored = {".rotary_emb.inv_freq"};
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config);
  return model;
}

// The choice with a window of so many keys, the query's own counted, where the configuration has one.
AttentionChoice windowed(const AttentionChoice& choice, const Json& config) {
  const Index keys = extent_or(config, {"sliding_window"}, 0);
  return keys == 0 ? choice : AttentionChoice(choice.text() + " + window(" + std::to_string(keys - 1) + ")");
}

// Gemma's norms hold what is added to one.
void add_one_to_norms(FamilyModel& model) {
  for (TensorRule& rule : model.rules) {
    if (rule.parameter.find("norm") != std::string::npos) rule.layout = TensorLayout::plus_one;
  }
}

}  // namespace

FamilyModel describe_llama(const Json& config) { return describe_decoder(config); }

FamilyModel describe_mistral(const Json& config) {
  FamilyModel model = describe_decoder(config);
  model.config.attention = windowed(model.config.attention, config);
  return model;
}

FamilyModel describe_qwen2(const Json& config) {
  refuse_unless(config, "use_sliding_window", false);
  FamilyModel model = describe_decoder(config);
  model.config.attention_bias = true;
  model.config.attention_out_bias = false;
  return model;
}

FamilyModel describe_qwen3(const Json& config) {
  refuse_unless(config, "use_sliding_window", false);
  FamilyModel model = describe_decoder(config);
  model.config.query_key_norm = true;
  return model;
}

FamilyModel describe_gemma(const Json& config) {
  FamilyModel model = describe_decoder(config);
  TransformerConfig& c = model.config;
  // Files from before hidden_activation name another activation than the models were trained with.
  c.activation = activation_of(find_field(config, {"hidden_activation"}).value_or("gelu_pytorch_tanh"));
  c.embedding_scale = 0;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  add_one_to_norms(model);
  return model;
}

FamilyModel describe_gemma2(const Json& config) {
  FamilyModel model = describe_gemma(config);
  TransformerConfig& c = model.config;
  c.norm_place = NormPlace::both;
  const double scale = 1 / std::sqrt(number_or(config, {"query_pre_attn_scalar"}, 256));
  std::string text = fmt::format("dot({}) + {}", scale, c.attention.text());
  if (const double cap = number_or(config, {"attn_logit_softcapping"}, 0); cap > 0) {
    text += fmt::format(" + soft_cap({})", cap);
  }
  c.alternate = true;
  c.alternate_attention = AttentionChoice(text);
  c.attention = windowed(c.alternate_attention, config);
  c.logit_soft_cap = number_or(config, {"final_logit_softcapping"}, 0);
  const auto norm = [&](const char* parameter, const char* tensor) {
    model.rules.insert(model.rules.begin(), {parameter, {tensor}, TensorLayout::plus_one});
  };
  norm("decoder.layers.*.post_norm1", "model.layers.*.post_attention_layernorm");
  norm("decoder.layers.*.norm2", "model.layers.*.pre_feedforward_layernorm");
  norm("decoder.layers.*.post_norm2", "model.layers.*.post_feedforward_layernorm");
  return model;
}

}  // namespace heed
