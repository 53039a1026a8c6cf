// T5 1.0 (Raffel et al. 2020) and 1.1, whose feed-forward network is gated, mT5 (Xue et al. 2021), which is 1.1 in many
// languages, and UMT5 (Chung et al. 2023), each of whose layers has a table of distances: ...ForConditionalGeneration.
#include <fmt/format.h>

#include <cmath>

#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {
namespace {

// `feed_forward` and `tied` are what the class has where the configuration leaves them out.
FamilyModel describe(const Json& config, const char* feed_forward, bool tied) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"d_model"});
  c.heads = extent(config, {"num_heads"});
  c.head_width = extent(config, {"d_kv"});
  c.ffn_width = extent(config, {"d_ff"});
  c.encoder_layers = layer_count(config, {"num_layers"});
  c.decoder_layers = layer_count(config, {"num_decoder_layers", "num_layers"});
  const Json network = find_field(config, {"feed_forward_proj"}).value_or(feed_forward);
  c.gated = network.string().starts_with("gated-");
  // "gated-gelu" means the approximation by tanh, and plain names mean what they say.
  c.activation = network.string() == "gated-gelu" ? Activation::gelu_tanh
                 : c.gated                        ? activation_of(network.string().substr(6))
                                                  : activation_of(network);
  c.norm = NormKind::rms;
  c.norm_epsilon = number_or(config, {"layer_norm_epsilon"}, 1e-6);
  c.positions = PositionKind::none;
  c.max_length = kUnboundedLength;
  c.attention =
      AttentionChoice(fmt::format("dot + relative({}, {})", extent_or(config, {"relative_attention_num_buckets"}, 32),
                                  extent_or(config, {"relative_attention_max_distance"}, 128)));
  c.cross_attention = AttentionChoice("dot");
  c.attention_bias = c.ffn_bias = false;
  c.separate_projections = true;
  c.embedding_scale = 1;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, tied);
  // Newer files say by itself what being tied meant, and call all tables tied.
  const bool scaled = flag_or(config, {"scale_decoder_outputs"}, c.tie_output);
  const bool may_be_apart = c.tie_output && !scaled;
  if (may_be_apart) c.tie_output = false;
  if (scaled) c.logit_scale = 1 / std::sqrt(static_cast<double>(c.width));
  const auto attention = [&](const std::string& own, const std::string& theirs) {
    for (const char* part : {"q", "k", "v"}) {
      model.rules.push_back({fmt::format("{}.{}_proj_weight", own, part), {fmt::format("{}.{}.weight", theirs, part)}});
    }
    model.rules.push_back({own + ".out_proj", {theirs + ".o"}});
  };
  const auto block = [&](const std::string& own, const std::string& theirs, int last) {
    attention(own + ".self_attn", theirs + ".layer.0.SelfAttention");
    const std::string network_of = fmt::format("{}.layer.{}.DenseReluDense", theirs, last);
    model.rules.push_back({own + ".linear1", {network_of + (c.gated ? ".wi_1" : ".wi")}});
    model.rules.push_back({own + ".linear_gate", {network_of + ".wi_0"}});
    model.rules.push_back({own + ".linear2", {network_of + ".wo"}});
    for (int i = 0; i <= last; ++i) {
      model.rules.push_back({fmt::format("{}.norm{}", own, i + 1), {fmt::format("{}.layer.{}.layer_norm", theirs, i)}});
    }
  };
  // The first layer's table of distances serves all of them.
  const std::string table = "block.0.layer.0.SelfAttention.relative_attention_bias.weight";
  std::vector<std::string> tables = tied_output(c, "lm_head");
  tables.insert(tables.begin(), {"encoder.embed_tokens", "decoder.embed_tokens"});
  model.rules = {{.parameter = "embedding", .tensors = {"shared"}, .otherwise = std::move(tables)},
                 {"encoder.layers.*.self_attn.relative_bias", {"encoder." + table}},
                 {"decoder.layers.*.self_attn.relative_bias", {"decoder." + table}}};
  block("encoder.layers.*", "encoder.block.*", 1);
  block("decoder.layers.*", "decoder.block.*", 2);
  attention("decoder.layers.*.multihead_attn", "decoder.block.*.layer.1.EncDecAttention");
  model.rules.push_back({"encoder.norm", {"encoder.final_layer_norm"}});
  model.rules.push_back({"decoder.norm", {"decoder.final_layer_norm"}});
  TensorRule output{"generator", {"lm_head"}};
  if (may_be_apart) output.otherwise = {"shared", "encoder.embed_tokens", "decoder.embed_tokens"};
  model.rules.push_back(output);
  model.parts = {"encoder.block.*", "decoder.block.*"};
  // Some files of T5 1.0 have a table for cross-attention, which no program reads.
  model.ignored = {".EncDecAttention.relative_attention_bias.weight"};
  model.heads = translator_head_names(config);
  // The classifier of tokens has the encoder alone.
  model.heads->tokens = "classifier";
  const std::string& architecture = model.heads->architecture;
  if (architecture.ends_with("EncoderModel") || architecture.ends_with("ForTokenClassification")) {
    c.decoder_layers = 0;
    model.parts = {"encoder.block.*"};
  }
  model.begin = id_or(config, {"decoder_start_token_id", "pad_token_id"}, 0);
  model.ends = end_ids(config, 1);
  return model;
}

}  // namespace

FamilyModel describe_t5(const Json& config) { return describe(config, "relu", /*tied=*/true); }
FamilyModel describe_mt5(const Json& config) { return describe(config, "gated-gelu", /*tied=*/false); }

FamilyModel describe_umt5(const Json& config) {
  FamilyModel model = describe(config, "gated-gelu", /*tied=*/true);
  for (TensorRule& rule : model.rules) {
    if (!rule.parameter.ends_with(".relative_bias")) continue;
    const std::string side = rule.parameter.substr(0, rule.parameter.find('.'));
    rule.tensors = {side + ".block.*.layer.0.SelfAttention.relative_attention_bias.weight"};
  }
  return model;
}

}  // namespace heed
