// Llama 2 and 3 (Touvron et al. 2023; Dubey et al. 2024) and those of the same build: Mistral, Qwen 2 and 3, Gemma 1
// to 3, Phi 3. ...ForCausalLM.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"
#include "heed/pretrained/layer_windows.h"
#include "heed/pretrained/rotary_notation.h"

namespace heed {
namespace {

Activation hidden_act(const Json& config) { return activation_of(find_field(config, {"hidden_act"}).value_or("silu")); }

// What a family's class in Hugging Face's library has where a configuration leaves it out.
struct ClassDefaults {
  Index kv_heads = 0;    // 0: as many as query heads
  Index head_width = 0;  // 0: width / heads
  Index positions = 2048;
  double norm_epsilon = 1e-6;
  std::int32_t end = -1;
  bool tied = false;
  // Which fields the class reads; a file may have those of another.
  Activation (*activation)(const Json& config) = hidden_act;
  bool reads_attention_bias = false, reads_ffn_bias = false;
  bool turns_share = false;  // of a head's features, as partial_rotary_factor says
};

// Rotary positions of whole heads: the only ones that most of these classes have, whatever they read of a share.
AttentionChoice features_turned(const Json& config, const ClassDefaults& defaults, Index head_width) {
  if (defaults.turns_share) {
    return rotary_attention(config, turned_features(config, "partial_rotary_factor", 1, head_width));
  }
  for (const Json& place : {config, rotary_parameters(config)}) {
    const std::optional<Json> share = find_field(place, {"partial_rotary_factor"});
    if (share && share->number() != 1) share->refuse("heed has models of this type with 1 alone");
  }
  return rotary_attention(config, head_width);
}

// What all of them have.
FamilyModel describe_decoder(const Json& config, const ClassDefaults& defaults) {
  refuse_unless(config, "is_causal", true);
  refuse_unless(config, "use_bidirectional_attention", false);
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"hidden_size"});
  c.heads = extent(config, {"num_attention_heads"});
  c.kv_heads = nullable_extent(config, "num_key_value_heads", defaults.kv_heads);
  if (c.kv_heads == 0) c.kv_heads = c.heads;
  c.head_width = nullable_extent(config, "head_dim", defaults.head_width);
  if (c.head_width == 0) c.head_width = c.width / c.heads;
  c.ffn_width = extent(config, {"intermediate_size"});
  c.encoder_layers = 0;
  c.decoder_layers = layer_count(config, {"num_hidden_layers"});
  c.activation = defaults.activation(config);
  c.gated = true;
  c.norm = NormKind::rms;
  c.norm_epsilon = number_or(config, {"rms_norm_eps"}, defaults.norm_epsilon);
  c.positions = PositionKind::none;
  c.max_length = extent_or(config, {"max_position_embeddings"}, defaults.positions);
  c.attention = features_turned(config, defaults, c.head_width);
  end_where_angles_change(config, model);
  c.attention_bias = c.attention_out_bias = defaults.reads_attention_bias && flag_or(config, {"attention_bias"}, false);
  c.ffn_bias = defaults.reads_ffn_bias && flag_or(config, {"mlp_bias"}, false);
  c.separate_projections = true;
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, defaults.tied);
  model.prefix = "model.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"model.embed_tokens"}, .otherwise = tied_output(c, "lm_head")},
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
  model.heads = language_model_head_names(config, "score");
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config, defaults.end);
  return model;
}

// Whether each layer has the window: as layer_types says, else as the family's class does.
std::vector<bool> windowed_layers(const Json& config, Index layers, const std::function<bool(Index)>& otherwise) {
  std::vector<bool> all;
  const std::optional<Json> types = find_field(config, {"layer_types"});
  if (!types) {
    for (Index layer = 0; layer < layers; ++layer) all.push_back(otherwise(layer));
    return all;
  }
  for (const std::string& type : types->string_list()) {
    if (type != "sliding_attention" && type != "full_attention") {
      types->refuse("must be a list of full_attention and sliding_attention");
    }
    all.push_back(type == "sliding_attention");
  }
  if (std::ssize(all) != layers) types->refuse(fmt::format("must name the types of {} layers", layers));
  return all;
}

// Gives the model's layers their choice, some with a window of so many keys.
void attend_by_layer(TransformerConfig& c, const Json& config, const AttentionChoice& choice, Index window,
                     const std::function<bool(Index)>& otherwise) {
  attend_by_layer(c, {choice, windowed(choice, window)}, windowed_layers(config, c.decoder_layers, otherwise));
}

// Gemma's norms hold what is added to one.
void add_one_to_norms(FamilyModel& model) {
  for (TensorRule& rule : model.rules) {
    if (rule.parameter.find("norm") != std::string::npos) rule.layout = TensorLayout::plus_one;
  }
}

}  // namespace

FamilyModel describe_llama(const Json& config) {
  return describe_decoder(config, {.end = 2, .reads_attention_bias = true, .reads_ffn_bias = true});
}

FamilyModel describe_mistral(const Json& config) {
  FamilyModel model = describe_decoder(config, {.kv_heads = 8, .positions = 4096 * 32, .end = 2});
  model.config.attention = windowed(model.config.attention, nullable_extent(config, "sliding_window", 4096));
  return model;
}

namespace {

// The class takes YaRN's name for an earlier one of LongRoPE, of texts that were 4096 long where nothing says it.
Json with_longrope(const Json& config) {
  Json scaling = rotary_parameters(config), renamed = config;
  if (!is_longrope(scaling) && rotary_kind(scaling) != "yarn") return config;
  scaling.set("type", "longrope");
  renamed.set("rope_scaling", scaling);
  constexpr const char* kLength = "original_max_position_embeddings";
  if (!find_field(scaling, {kLength}) && !find_field(config, {kLength})) renamed.set(kLength, 4096);
  return renamed;
}

}  // namespace

FamilyModel describe_phi3(const Json& config) {
  FamilyModel model = describe_decoder(with_longrope(config),
                                       {.positions = 4096, .norm_epsilon = 1e-5, .end = 32000, .turns_share = true});
  TransformerConfig& c = model.config;
  c.attention = windowed(c.attention, nullable_extent(config, "sliding_window", 0));
  // Queries, keys and values are one matrix, and so are the gate, which is first, and what it gates.
  c.separate_projections = false;
  const std::string own = "decoder.layers.*.", theirs = "model.layers.*.";
  const std::string gated = theirs + "mlp.gate_up_proj.weight";
  const std::vector<TensorRule> rules{
      {own + "self_attn.in_proj_weight", {theirs + "self_attn.qkv_proj.weight"}},
      {.parameter = own + "linear_gate.weight", .tensors = {gated}, .rows = c.ffn_width},
      {.parameter = own + "linear1.weight", .tensors = {gated}, .first_row = c.ffn_width, .rows = c.ffn_width}};
  model.rules.insert(model.rules.begin(), rules.begin(), rules.end());
  return model;
}

namespace {

// The layers from max_window_layers on have the window, where use_sliding_window says that there is one.
void attend_as_qwen(TransformerConfig& c, const Json& config) {
  if (!flag_or(config, {"use_sliding_window"}, false)) return;
  const Index full = find_field(config, {"max_window_layers"}) ? config["max_window_layers"].integer(0, 1 << 24) : 28;
  attend_by_layer(c, config, c.attention, nullable_extent(config, "sliding_window", 4096),
                  [&](Index layer) { return layer >= full; });
}

}  // namespace

FamilyModel describe_qwen2(const Json& config) {
  FamilyModel model = describe_decoder(config, {.kv_heads = 32, .positions = 32768});
  model.config.attention_bias = true;
  model.config.attention_out_bias = false;
  attend_as_qwen(model.config, config);
  return model;
}

FamilyModel describe_qwen3(const Json& config) {
  FamilyModel model =
      describe_decoder(config, {.kv_heads = 32, .head_width = 128, .positions = 32768, .reads_attention_bias = true});
  model.config.query_key_norm = true;
  attend_as_qwen(model.config, config);
  return model;
}

namespace {

Activation hidden_activation(const Json& config) {
  return activation_of(find_field(config, {"hidden_activation"}).value_or("gelu_pytorch_tanh"));
}

// Of the first generation, whose files from before hidden_activation say gelu: the models were trained with its
// approximation.
Activation first_activation(const Json& config) {
  const Json act = find_field(config, {"hidden_activation", "hidden_act"}).value_or("gelu");
  const bool is_earlier = act.string() == "gelu" && !find_field(config, {"hidden_activation"});
  return is_earlier ? Activation::gelu_tanh : activation_of(act);
}

// What all generations have.
FamilyModel describe_gemma(const Json& config, Index kv_heads, Index positions = 8192,
                           Activation (*activation)(const Json&) = hidden_activation) {
  FamilyModel model = describe_decoder(config, {.kv_heads = kv_heads,
                                                .head_width = 256,
                                                .positions = positions,
                                                .end = 1,
                                                .tied = true,
                                                .activation = activation,
                                                .reads_attention_bias = true});
  model.config.embedding_scale = 0;
  add_one_to_norms(model);
  return model;
}

}  // namespace

FamilyModel describe_gemma(const Json& config) { return describe_gemma(config, 16, 8192, first_activation); }

namespace {

// Before a sub-layer and behind it.
void add_both_norms(FamilyModel& model) {
  model.config.norm_place = NormPlace::both;
  const auto norm = [&](const char* parameter, const char* tensor) {
    model.rules.insert(model.rules.begin(), {parameter, {tensor}, TensorLayout::plus_one});
  };
  norm("decoder.layers.*.post_norm1", "model.layers.*.post_attention_layernorm");
  norm("decoder.layers.*.norm2", "model.layers.*.pre_feedforward_layernorm");
  norm("decoder.layers.*.post_norm2", "model.layers.*.post_feedforward_layernorm");
}

std::string scaled_by_scalar(const Json& config) {
  return fmt::format("dot({})", 1 / std::sqrt(number_or(config, {"query_pre_attn_scalar"}, 256)));
}

}  // namespace

FamilyModel describe_gemma2(const Json& config) {
  FamilyModel model = describe_gemma(config, 4);
  TransformerConfig& c = model.config;
  add_both_norms(model);
  std::string text = fmt::format("{} + {}", scaled_by_scalar(config), c.attention.text());
  if (const double cap = nullable_number(config, "attn_logit_softcapping", 50); cap > 0) {
    text += fmt::format(" + soft_cap({})", cap);
  }
  attend_by_layer(c, config, AttentionChoice(text), nullable_extent(config, "sliding_window", 4096),
                  [](Index layer) { return layer % 2 == 0; });
  c.logit_soft_cap = nullable_number(config, "final_logit_softcapping", 30);
  return model;
}

FamilyModel describe_gemma3(const Json& config) {
  // Layers with a window turn by a base of their own; newer files say it for each kind of layer.
  Json plain = config, local = config;
  const Json parameters = rotary_parameters(config);
  const bool apart = parameters.has("full_attention");
  if (apart) plain.set("rope_scaling", parameters["full_attention"]);
  local.set("rope_scaling", apart ? parameters["sliding_attention"] : Json::object());
  if (!plain.has("rope_theta") && !rotary_parameters(plain).has("rope_theta")) plain.set("rope_theta", 1e6);
  FamilyModel model = describe_gemma(plain, 4, 1 << 17);
  TransformerConfig& c = model.config;
  add_both_norms(model);
  c.query_key_norm = true;
  for (const char* part : {"q_norm", "k_norm"}) {
    model.rules.insert(model.rules.begin(), {fmt::format("decoder.layers.*.self_attn.{}", part),
                                             {fmt::format("model.layers.*.self_attn.{}", part)},
                                             TensorLayout::plus_one});
  }
  const auto choice = [&](const AttentionChoice& rotary) {
    std::string text = fmt::format("{} + {}", scaled_by_scalar(config), rotary.text());
    if (const double cap = nullable_number(config, "attn_logit_softcapping", 0); cap > 0) {
      text += fmt::format(" + soft_cap({})", cap);
    }
    return AttentionChoice(text);
  };
  const AttentionChoice turned_locally = rotary_attention(local, c.head_width, "rope_local_base_freq");
  const Index pattern = extent_or(config, {"sliding_window_pattern", "_sliding_window_pattern"}, 6);
  attend_by_layer(
      c, {choice(c.attention), windowed(choice(turned_locally), nullable_extent(config, "sliding_window", 4096))},
      windowed_layers(config, c.decoder_layers, [&](Index layer) { return (layer + 1) % pattern != 0; }));
  c.logit_soft_cap = nullable_number(config, "final_logit_softcapping", 0);
  return model;
}

}  // namespace heed
