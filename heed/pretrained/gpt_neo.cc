// GPT-Neo (Black et al. 2021), whose layers see all of a text or a window of it: GPTNeoForCausalLM.
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"
#include "heed/pretrained/layer_windows.h"

namespace heed {
namespace {

// Whether each layer has the window, from [[["global", "local"], 6]]: kinds, and how often they come.
std::vector<bool> local_layers(const Json& config, Index layers) {
  const Json types = config["attention_types"];
  std::vector<bool> all;
  for (const Json& repeated : types.items()) {
    const Index times = repeated[Index{1}].integer(1, layers);
    for (Index time = 0; time < times && std::ssize(all) <= layers; ++time) {
      for (const std::string& kind : repeated[Index{0}].string_list()) {
        if (kind != "global" && kind != "local") types.refuse("must be of global and local");
        all.push_back(kind == "local");
      }
    }
  }
  if (std::ssize(all) != layers) types.refuse("must have a kind for each of num_layers");
  return all;
}

}  // namespace

FamilyModel describe_gpt_neo(const Json& config) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"hidden_size"});
  c.heads = extent(config, {"num_heads", "num_attention_heads"});
  c.ffn_width = extent_or(config, {"intermediate_size"}, 4 * c.width);
  c.encoder_layers = 0;
  c.decoder_layers = layer_count(config, {"num_layers", "num_hidden_layers"});
  c.activation = activation_of(find_field(config, {"activation_function"}).value_or("gelu_new"));
  c.norm_epsilon = number_or(config, {"layer_norm_epsilon"}, 1e-5);
  c.positions = PositionKind::learned;
  c.max_length = extent(config, {"max_position_embeddings"});
  // Its scores are not scaled.
  const AttentionChoice all("dot");
  attend_by_layer(c, {all, windowed(all, extent_or(config, {"window_size"}, 256))},
                  local_layers(config, c.decoder_layers));
  c.separate_projections = true;
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  model.prefix = "transformer.";
  const std::string own = "decoder.layers.*.", theirs = "transformer.h.*.";
  model.rules = {
      {.parameter = "embedding", .tensors = {"transformer.wte"}, .otherwise = tied_output(c, "lm_head")},
      {"target_positions", {"transformer.wpe"}},
      {own + "self_attn.q_proj_weight", {theirs + "attn.attention.q_proj.weight"}},
      {own + "self_attn.k_proj_weight", {theirs + "attn.attention.k_proj.weight"}},
      {own + "self_attn.v_proj_weight", {theirs + "attn.attention.v_proj.weight"}},
      {own + "self_attn.in_proj_bias", {""}},  // the output's projection alone has one
      {own + "self_attn.out_proj", {theirs + "attn.attention.out_proj"}},
      {own + "linear1", {theirs + "mlp.c_fc"}},
      {own + "linear2", {theirs + "mlp.c_proj"}},
      {own + "norm1", {theirs + "ln_1"}},
      {own + "norm2", {theirs + "ln_2"}},
      {"decoder.norm", {"transformer.ln_f"}},
      {"generator", {"lm_head"}},
  };
  model.parts = {"transformer.h.*"};
  model.ignored = {".attn.attention.bias", ".attn.attention.masked_bias"};
  model.heads = language_model_head_names(config, "classifier");
  model.begin = id_or(config, {"bos_token_id"}, -1);
  model.ends = end_ids(config, 50256);
  return model;
}

}  // namespace heed
