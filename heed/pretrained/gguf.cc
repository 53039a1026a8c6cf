// A GGUF file's metadata are written as the config.json of the same model, which its family reads; then the tensors'
// names are GGUF's.
#include "heed/pretrained/gguf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "heed/base/check.h"
#include "heed/ops/rotary/rotary.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/gguf_tokens.h"
#include "heed/pretrained/rotary_notation.h"

namespace heed {
namespace {

// Hugging Face's names, longest first where one begins another, and GGUF's.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"model.layers.*.self_attn.q_proj", "blk.*.attn_q"},
    {"model.layers.*.self_attn.k_proj", "blk.*.attn_k"},
    {"model.layers.*.self_attn.v_proj", "blk.*.attn_v"},
    {"model.layers.*.self_attn.qkv_proj", "blk.*.attn_qkv"},
    {"model.layers.*.self_attn.q_norm", "blk.*.attn_q_norm"},
    {"model.layers.*.self_attn.k_norm", "blk.*.attn_k_norm"},
    {"model.layers.*.self_attn.o_proj", "blk.*.attn_output"},
    {"model.layers.*.mlp.up_proj", "blk.*.ffn_up"},
    {"model.layers.*.mlp.gate_proj", "blk.*.ffn_gate"},
    {"model.layers.*.mlp.gate_up_proj", "blk.*.ffn_up"},
    {"model.layers.*.mlp.down_proj", "blk.*.ffn_down"},
    {"model.layers.*.input_layernorm", "blk.*.attn_norm"},
    {"model.layers.*.pre_feedforward_layernorm", "blk.*.ffn_norm"},
    {"model.layers.*.post_feedforward_layernorm", "blk.*.post_ffw_norm"},
    {"model.embed_tokens", "token_embd"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
};

std::string in_gguf(const std::string& tensor, NormPlace place) {
  constexpr std::string_view kAfterAttention = "model.layers.*.post_attention_layernorm";
  if (tensor == kAfterAttention) return place == NormPlace::both ? "blk.*.post_attention_norm" : "blk.*.ffn_norm";
  for (const auto& [theirs, name] : kNames) {
    if (tensor.starts_with(theirs)) return std::string(name) + tensor.substr(theirs.size());
  }
  return tensor;
}

// The factors that Llama 3.1 and its like divide the frequencies by are a tensor in GGUF, from which its `factor` and
// length follow: they are those of one of the published models.
Json llama3_scaling(const Checkpoint& file, const Rotary& plain) {
  const Tensor factors = file.tensor("rope_freqs.weight").to(DType::f32);
  for (const double factor : {8.0, 32.0, 16.0, 4.0}) {
    Rotary scaled = plain;
    scaled.scaling = RotaryScaling::llama3(factor, 8192);
    const std::vector<double> of_plain = rotary_frequencies(plain), of_scaled = rotary_frequencies(scaled);
    bool equal = factors.size() == std::ssize(of_plain);
    for (std::size_t i = 0; equal && i < of_plain.size(); ++i) {
      const double stated = factors.data<float>()[i];
      equal = std::abs(of_plain[i] / of_scaled[i] - stated) <= 1e-4 * stated;
    }
    if (!equal) continue;
    return Json::object({{"rope_type", "llama3"},
                         {"factor", factor},
                         {"original_max_position_embeddings", 8192},
                         {"low_freq_factor", 1},
                         {"high_freq_factor", 4}});
  }
  throw Error(file.name() + ": rope_freqs.weight: are not the factors of a Llama 3 that heed knows");
}

// What config.json says of all families alike.
Json extents_of(const Checkpoint& file, const std::string& arch) {
  const Json& metadata = file.metadata();
  Json config = Json::object({{"model_type", arch}, {"tie_word_embeddings", !file.has("output.weight")}});
  for (const auto& [to, from] : {std::pair("hidden_size", "embedding_length"),
                                 {"intermediate_size", "feed_forward_length"},
                                 {"num_attention_heads", "attention.head_count"},
                                 {"max_position_embeddings", "context_length"}}) {
    config.set(to, extent(metadata, {fmt::format("{}.{}", arch, from)}));
  }
  config.set("num_hidden_layers", layer_count(metadata, {arch + ".block_count"}));
  const auto table = file.tensors().find("token_embd.weight");
  config.set("vocab_size", table != file.tensors().end() && table->second.rank == 2
                               ? table->second.shape[0]
                               : metadata["tokenizer.ggml.tokens"].size());
  return config;
}

// What llama.cpp divides frequencies by, whichever of its names the file has.
double rotary_factor(const Json& metadata, const std::string& arch) {
  const double factor = number_or(metadata, {arch + ".rope.scaling.factor", arch + ".rope.scale_linear"}, 0);
  return factor == 0 ? 1 : factor;
}

// What is left out is the family's own; llama.cpp multiplies YaRN's own attention factor by attn_factor.
Json scaling_of_file(const Json& metadata, const std::string& arch, std::string_view kind) {
  const auto key = [&](std::string_view name) { return fmt::format("{}.rope.scaling.{}", arch, name); };
  Json scaling = Json::object({{"rope_type", kind},
                               {"factor", rotary_factor(metadata, arch)},
                               {"original_max_position_embeddings", metadata[arch + ".context_length"]}});
  for (const auto& [to, from] : {std::pair("original_max_position_embeddings", "original_context_length"),
                                 {"beta_fast", "yarn_beta_fast"},
                                 {"beta_slow", "yarn_beta_slow"}}) {
    if (metadata.has(key(from))) scaling.set(to, metadata[key(from)]);
  }
  if (const double times = number_or(metadata, {key("attn_factor")}, 1); times != 1) {
    scaling.set("attention_factor", times * (0.1 * std::log(scaling["factor"].number()) + 1));
  }
  return scaling;
}

// What only Gemma 2 and 3 have.
void set_gemmas_own(const Json& metadata, const std::string& arch, Json& config) {
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", arch, name); };
  const bool is_third = arch == "gemma3";
  const std::string window = key("attention.sliding_window"), pattern = key("attention.sliding_window_pattern");
  // The third has no default of its own: all layers are alike where the file names no window.
  const bool has_window = !is_third || (metadata.has(window) && metadata[window].integer() != 0);
  if (!has_window) {
    const auto layers = static_cast<std::size_t>(layer_count(config, {"num_hidden_layers"}));
    config.set("layer_types", Json::array_of(std::vector<std::string>(layers, "full_attention")));
  } else if (metadata.has(window)) {
    config.set("sliding_window", extent(metadata, {window}));
  }
  if (metadata.has(pattern)) config.set("sliding_window_pattern", extent(metadata, {pattern}));
  config.set("rope_local_base_freq", rotary_base(metadata, key("rope.freq_base_swa")));
  // Of the largest alone, which nothing but its number of layers tells from the others, the share of the width.
  const Index layers_of_27b = is_third ? 62 : 46;
  const Index share = extent(config, {"hidden_size"}) / extent(config, {"num_attention_heads"});
  const bool is_largest = layer_count(config, {"num_hidden_layers"}) == layers_of_27b;
  config.set("query_pre_attn_scalar", is_largest ? share : extent(config, {"head_dim"}));
  if (is_third) config.set("model_type", "gemma3_text");
}

constexpr const char* kShortFactors = "rope_factors_short.weight";  // LongRoPE's, of texts of the original length

// What only Phi 3 has: a window of 0 keys is none.
void set_phis_own(const Checkpoint& file, const std::string& arch, Json& config) {
  const Json& metadata = file.metadata();
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", arch, name); };
  const std::string window = key("attention.sliding_window");
  if (metadata.has(window) && metadata[window].integer() != 0) config.set("sliding_window", extent(metadata, {window}));
  const Index width = extent(config, {"head_dim"});
  const std::string dimension = key("rope.dimension_count");
  const Index turned = extent_or(metadata, {dimension}, width);
  if (turned > width) metadata[dimension].refuse(fmt::format("must be at most the {} features of a head", width));
  // A half more, so that rounding leaves as many.
  if (turned < width)
    config.set("partial_rotary_factor", (static_cast<double>(turned) + 0.5) / static_cast<double>(width));
  if (!file.has(kShortFactors)) return;
  const Tensor factors = file.tensor(kShortFactors).to(DType::f32);
  const std::span<const float> numbers(factors.data<float>(), static_cast<std::size_t>(factors.size()));
  Json scaling = Json::object(
      {{"rope_type", "longrope"},
       {"short_factor", Json::array_of(std::vector<double>(numbers.begin(), numbers.end()))},
       {"original_max_position_embeddings", extent(metadata, {key("rope.scaling.original_context_length")})}});
  if (metadata.has(key("rope.scaling.attn_factor"))) {
    scaling.set("attention_factor", metadata[key("rope.scaling.attn_factor")].number());
  }
  config.set("rope_scaling", scaling);
}

// Of Llama and its like.
FamilyModel describe_llama_file(const Checkpoint& file, const std::string& arch) {
  const Json& metadata = file.metadata();
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", arch, name); };
  Json config = extents_of(file, arch);
  const auto copy = [&](std::string_view to, std::string_view from, bool needed) {
    const std::string name = key(from);
    if (needed || metadata.has(name)) config.set(to, metadata[name].number());
  };
  copy("rms_norm_eps", "attention.layer_norm_rms_epsilon", true);
  copy("attn_logit_softcapping", "attn_logit_softcapping", false);
  copy("final_logit_softcapping", "final_logit_softcapping", false);
  const double base = rotary_base(metadata, key("rope.freq_base"));
  config.set("rope_theta", base);
  if (arch == "llama") {
    config.set("attention_bias", file.has("blk.0.attn_q.bias"));
    config.set("mlp_bias", file.has("blk.0.ffn_up.bias"));
  }
  // What is left out is llama.cpp's own, and not that of Hugging Face's class.
  const Index heads = extent(config, {"num_attention_heads"}), share = extent(config, {"hidden_size"}) / heads;
  const Index width = extent_or(metadata, {key("attention.key_length")}, share);
  config.set("head_dim", width);
  const bool is_phi3 = arch == "phi3";
  const auto refuse_another = [&](std::string_view name) {
    if (extent_or(metadata, {key(name)}, width) == width) return;
    metadata[key(name)].refuse(fmt::format("heed has models of this type with a head's {} alone", width));
  };
  refuse_another("attention.value_length");
  if (!is_phi3) refuse_another("rope.dimension_count");
  config.set("num_key_value_heads", extent_or(metadata, {key("attention.head_count_kv")}, heads));
  if (arch == "gemma2" || arch == "gemma3") set_gemmas_own(metadata, arch, config);
  if (is_phi3) set_phis_own(file, arch, config);
  if (file.has("rope_freqs.weight")) config.set("rope_scaling", llama3_scaling(file, {.width = width, .base = base}));
  const std::string type = key("rope.scaling.type");
  const std::string scaling = metadata.has(type) ? metadata[type].string() : "linear";
  if (scaling == "longrope" && !config.has("rope_scaling")) {
    metadata[type].refuse(fmt::format("heed reads its factors of Phi 3 alone, in {}", kShortFactors));
  }
  const bool is_plain = scaling == "linear" && rotary_factor(metadata, arch) == 1;
  if (scaling != "none" && scaling != "longrope" && !is_plain) {
    HEED_CHECK(!config.has("rope_scaling"), "{}: {}: heed has no {} scaling beside factors of the file's own",
               file.name(), type, scaling);
    config.set("rope_scaling", scaling_of_file(metadata, arch, scaling));
  }

  FamilyModel model = describe_model(config);
  // What norms of queries and keys there are is one rule of most families.
  std::erase_if(model.rules, [](const TensorRule& rule) { return rule.parameter == "decoder.layers.*.self_attn"; });
  for (const char* norm : {"q_norm", "k_norm"}) {
    model.rules.push_back(
        {fmt::format("decoder.layers.*.self_attn.{}", norm), {fmt::format("model.layers.*.self_attn.{}", norm)}});
  }
  for (TensorRule& rule : model.rules) {
    // GGUF's norms hold Gemma's 1 + w.
    if (rule.layout == TensorLayout::plus_one) rule.layout = TensorLayout::as_it_is;
    for (std::string& tensor : rule.tensors) tensor = in_gguf(tensor, model.config.norm_place);
  }
  // llama.cpp lays the rows of Llama's queries and keys out so that neighbouring features turn together.
  if (arch == "llama") {
    std::string text = model.config.attention.text();
    const std::size_t end = text.find(')');
    text = end == std::string::npos ? text : fmt::format("{}, interleaved=1{}", text.substr(0, end), text.substr(end));
    model.config.attention = AttentionChoice(text);
  }
  model.config.attention_out_bias = model.config.attention_bias && file.has("blk.0.attn_output.bias");
  return model;
}

FamilyModel describe_gpt2_file(const Checkpoint& file, const std::string& arch) {
  Json config = extents_of(file, arch);
  config.set("n_inner", config["intermediate_size"]);
  config.set("layer_norm_epsilon", file.metadata()[arch + ".attention.layer_norm_epsilon"]);
  FamilyModel model = describe_model(config);
  // Its matrices are turned when the file is written.
  model.rules = {
      {"embedding", {"token_embd"}},
      {"target_positions", {"position_embd"}},
      {"decoder.layers.*.self_attn.in_proj_weight", {"blk.*.attn_qkv.weight"}},
      {"decoder.layers.*.self_attn.in_proj_bias", {"blk.*.attn_qkv.bias"}},
      {"decoder.layers.*.self_attn.out_proj", {"blk.*.attn_output"}},
      {"decoder.layers.*.linear1", {"blk.*.ffn_up"}},
      {"decoder.layers.*.linear2", {"blk.*.ffn_down"}},
      {"decoder.layers.*.norm1", {"blk.*.attn_norm"}},
      {"decoder.layers.*.norm2", {"blk.*.ffn_norm"}},
      {"decoder.norm", {"output_norm"}},
      {"generator", {"output"}},
  };
  return model;
}

}  // namespace

FamilyModel describe_gguf(const Checkpoint& file) {
  const Json& metadata = file.metadata();
  const Json architecture = metadata["general.architecture"];
  const std::string arch = architecture.string();
  constexpr std::array<std::string_view, 8> kKnown{"llama", "phi3",   "qwen2",  "qwen3",
                                                   "gemma", "gemma2", "gemma3", "gpt2"};
  if (std::ranges::find(kKnown, arch) == kKnown.end()) {
    architecture.refuse(fmt::format("must be one of {}", fmt::join(kKnown, ", ")));
  }
  for (const auto& [key, value] : metadata.members()) {
    const bool is_own = key.starts_with(arch + ".");
    if (is_own && value.kind() == Json::Kind::number && !std::isfinite(value.number())) value.refuse("must be finite");
  }
  if (const std::optional<Json> experts = find_field(metadata, {arch + ".expert_count"}); experts && *experts != 0) {
    experts->refuse("heed has models without experts alone");
  }
  refuse_unless(metadata, arch + ".attention.causal", true);
  FamilyModel model = arch == "gpt2" ? describe_gpt2_file(file, arch) : describe_llama_file(file, arch);
  model.prefix = "";
  model.parts = {"blk.*"};
  model.ignored = {};
  model.begin = gguf_begin(metadata);
  model.ends = gguf_ends(metadata);
  return model;
}

}  // namespace heed
