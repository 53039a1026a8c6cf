// A GGUF file's metadata are written as the config.json of the same model, which its family reads; then the tensors'
// names are GGUF's.
#include "heed/pretrained/gguf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <utility>

#include "heed/ops/rotary/rotary.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/rotary_notation.h"

namespace heed {
namespace {

// Hugging Face's names, longest first where one begins another, and GGUF's.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"model.layers.*.self_attn.q_proj", "blk.*.attn_q"},
    {"model.layers.*.self_attn.k_proj", "blk.*.attn_k"},
    {"model.layers.*.self_attn.v_proj", "blk.*.attn_v"},
    {"model.layers.*.self_attn.o_proj", "blk.*.attn_output"},
    {"model.layers.*.mlp.up_proj", "blk.*.ffn_up"},
    {"model.layers.*.mlp.gate_proj", "blk.*.ffn_gate"},
    {"model.layers.*.mlp.down_proj", "blk.*.ffn_down"},
    {"model.layers.*.input_layernorm", "blk.*.attn_norm"},
    {"model.layers.*.pre_feedforward_layernorm", "blk.*.ffn_norm"},
    {"model.layers.*.post_feedforward_layernorm", "blk.*.post_ffw_norm"},
    {"model.embed_tokens", "token_embd"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
};

std::string in_gguf(const std::string& tensor, bool gemma2) {
  constexpr std::string_view kAfterAttention = "model.layers.*.post_attention_layernorm";
  if (tensor == kAfterAttention) return gemma2 ? "blk.*.post_attention_norm" : "blk.*.ffn_norm";
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
                                 {"num_hidden_layers", "block_count"},
                                 {"num_attention_heads", "attention.head_count"},
                                 {"max_position_embeddings", "context_length"}}) {
    config.set(to, metadata[fmt::format("{}.{}", arch, from)]);
  }
  const auto table = file.tensors().find("token_embd.weight");
  config.set("vocab_size", table != file.tensors().end() && table->second.rank == 2
                               ? table->second.shape[0]
                               : metadata["tokenizer.ggml.tokens"].size());
  return config;
}

// What is left out is the family's own; llama.cpp multiplies YaRN's own attention factor by attn_factor.
Json scaling_of_file(const Json& metadata, const std::string& arch) {
  const auto key = [&](std::string_view name) { return fmt::format("{}.rope.scaling.{}", arch, name); };
  Json scaling = Json::object({{"rope_type", metadata[key("type")]},
                               {"factor", metadata[key("factor")]},
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

// Of Llama and its like.
FamilyModel describe_llama_file(const Checkpoint& file, const std::string& arch) {
  const Json& metadata = file.metadata();
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", arch, name); };
  Json config = extents_of(file, arch);
  const auto copy = [&](std::string_view to, std::string_view from, bool needed) {
    const std::string name = key(from);
    if (needed || metadata.has(name)) config.set(to, metadata[name]);
  };
  copy("rms_norm_eps", "attention.layer_norm_rms_epsilon", true);
  copy("attn_logit_softcapping", "attn_logit_softcapping", false);
  copy("final_logit_softcapping", "final_logit_softcapping", false);
  const double base = rotary_base(metadata, key("rope.freq_base"));
  config.set("rope_theta", base);
  const bool is_gemma2 = arch == "gemma2";
  if (is_gemma2) copy("sliding_window", "attention.sliding_window", false);
  if (arch == "llama") {
    config.set("attention_bias", file.has("blk.0.attn_q.bias"));
    config.set("mlp_bias", file.has("blk.0.ffn_up.bias"));
  }
  // What is left out is llama.cpp's own, and not that of Hugging Face's class.
  const Index heads = extent(config, {"num_attention_heads"}), share = extent(config, {"hidden_size"}) / heads;
  const Index width = extent_or(metadata, {key("attention.key_length")}, share);
  config.set("head_dim", width);
  for (const char* other : {"attention.value_length", "rope.dimension_count"}) {
    if (extent_or(metadata, {key(other)}, width) != width) {
      metadata[key(other)].refuse(fmt::format("heed has models of this type with a head's {} alone", width));
    }
  }
  config.set("num_key_value_heads", extent_or(metadata, {key("attention.head_count_kv")}, heads));
  // The largest Gemma 2 alone, which nothing but its number of layers tells from the others.
  constexpr Index kLayersOf27B = 46;
  if (is_gemma2) {
    config.set("query_pre_attn_scalar", extent(config, {"num_hidden_layers"}) == kLayersOf27B ? share : width);
  }
  if (file.has("rope_freqs.weight")) config.set("rope_scaling", llama3_scaling(file, {.width = width, .base = base}));
  if (metadata.has(key("rope.scaling.type")) && metadata[key("rope.scaling.type")].string() != "none") {
    config.set("rope_scaling", scaling_of_file(metadata, arch));
  }

  FamilyModel model = describe_model(config);
  for (TensorRule& rule : model.rules) {
    // GGUF's norms hold Gemma's 1 + w.
    if (rule.layout == TensorLayout::plus_one) rule.layout = TensorLayout::as_it_is;
    for (std::string& tensor : rule.tensors) tensor = in_gguf(tensor, is_gemma2);
    if (rule.parameter == "decoder.layers.*.self_attn") rule.parameter = "decoder.layers.*.self_attn.q_norm";
  }
  for (TensorRule& rule : model.rules) {
    if (rule.parameter == "decoder.layers.*.self_attn.q_norm") rule.tensors = {"blk.*.attn_q_norm"};
  }
  model.rules.push_back({"decoder.layers.*.self_attn.k_norm", {"blk.*.attn_k_norm"}});
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

std::int32_t gguf_token_id(const Json& metadata, std::string_view key) {
  const std::string name = fmt::format("tokenizer.ggml.{}", key);
  if (!metadata.has(name)) return -1;
  const Index id = metadata[name].integer();
  return id >= 0 && id < metadata["tokenizer.ggml.tokens"].size() ? static_cast<std::int32_t>(id) : -1;
}

FamilyModel describe_gguf(const Checkpoint& file) {
  const Json& metadata = file.metadata();
  const Json architecture = metadata["general.architecture"];
  const std::string arch = architecture.string();
  constexpr std::array<std::string_view, 6> kKnown{"llama", "qwen2", "qwen3", "gemma", "gemma2", "gpt2"};
  if (std::ranges::find(kKnown, arch) == kKnown.end()) {
    architecture.refuse(fmt::format("must be one of {}", fmt::join(kKnown, ", ")));
  }
  FamilyModel model = arch == "gpt2" ? describe_gpt2_file(file, arch) : describe_llama_file(file, arch);
  model.prefix = "";
  model.parts = {"blk.*"};
  model.ignored = {};
  model.begin = gguf_token_id(metadata, "bos_token_id");
  model.ends.clear();
  const std::int32_t end = gguf_token_id(metadata, "eos_token_id");
  const std::int32_t end_of_turn = gguf_token_id(metadata, "eot_token_id");
  if (end >= 0) model.ends.push_back(end);
  if (end_of_turn >= 0 && end_of_turn != end) model.ends.push_back(end_of_turn);
  return model;
}

}  // namespace heed
