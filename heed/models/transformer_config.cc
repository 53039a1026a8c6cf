#include "heed/models/transformer_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {
namespace {

// The notation of what an earlier configuration called a kind of self-attention.
std::string attention_of_kind(const Json& json) {
  const auto number = [&](std::string_view name) { return json[name].integer(0, 1 << 24); };
  const std::string& kind = json["attention"].string();
  if (kind == "softmax") return "scaled_dot";
  if (kind == "linear") return "elu";
  if (kind == "local") return fmt::format("window({})", number("attention_window"));
  if (kind == "strided") return fmt::format("strided({})", number("attention_stride"));
  if (kind == "fixed") return fmt::format("fixed({}, {})", number("attention_block"), number("attention_summary"));
  if (kind == "bigbird") {
    return fmt::format("bigbird(block={}, global={}, random={})", number("attention_block"), number("attention_global"),
                       number("attention_random"));
  }
  json["attention"].refuse("must be softmax, local, strided, fixed, bigbird or linear");
}

// An earlier configuration with the names of today. The first ones had neither kinds of attention nor key/value heads.
Json renamed(const Json& earlier) {
  Json today = Json::object({{"attention", earlier.has("attention") ? attention_of_kind(earlier) : "scaled_dot"},
                             {"cross_attention", "scaled_dot"},
                             {"norm_place", earlier["norm_first"].boolean() ? "pre" : "post"},
                             {"norm", "layer"},
                             {"gated", false},
                             {"kv_heads", earlier.has("key_value_heads") ? earlier["key_value_heads"] : Json(0)},
                             {"ffn_width", earlier["hidden"]}});
  for (const auto& [name, value] : earlier.members()) {
    const bool known = name == "norm_first" || name == "hidden" || name == "key_value_heads" || name == "attention" ||
                       (name.starts_with("attention_") && name != "attention_dropout");
    if (!known) today.set(name, value);
  }
  return today;
}

void check_cross(const AttentionChoice& choice) {
  for (const AttentionChoice::Chosen& chosen : choice.terms()) {
    HEED_CHECK(
        !chosen.term->goes_by_positions,
        "Transformer: cross_attention cannot be {}, which goes by the places of queries and keys in one sequence",
        chosen.term->name);
  }
}

// Of a layer counted from 1, whose scores are divided by its number.
AttentionChoice divided(const AttentionChoice& choice, Index number, Index head_width) {
  const double scale =
      choice.terms().empty() ? 1 / std::sqrt(static_cast<double>(head_width)) : choice.terms().front().numbers.front();
  return AttentionChoice(fmt::format("dot({})", scale / static_cast<double>(number)));
}

bool is_dot_product(const AttentionChoice& choice) {
  return choice.terms().empty() || (choice.terms().size() == 1 && choice.terms().front().term->name == "dot");
}

}  // namespace

FinalNorm final_norm_of(bool encoder, bool decoder) {
  if (encoder) return decoder ? FinalNorm::always : FinalNorm::encoder;
  return decoder ? FinalNorm::decoder : FinalNorm::never;
}

bool TransformerConfig::has_final_norm(bool decoder) const {
  switch (final_norm) {
    case FinalNorm::automatic:
      return norm_place != NormPlace::post;
    case FinalNorm::always:
      return true;
    case FinalNorm::never:
      return false;
    case FinalNorm::encoder:
      return !decoder;
    case FinalNorm::decoder:
      return decoder;
  }
  fail("Transformer: final_norm {} is none", static_cast<int>(final_norm));
}

bool TransformerConfig::alternates(Index layer) const {
  if (!alternate) return false;
  return alternate_layers.empty() ? layer % 2 == 1 : std::ranges::count(alternate_layers, layer) > 0;
}

TransformerBlockOptions TransformerConfig::block(bool decoder, Index layer) const {
  const AttentionChoice& chosen = alternates(layer) ? alternate_attention : attention;
  return {.width = width,
          .heads = heads,
          .ffn_width = ffn_width,
          .kv_heads = kv_heads,
          .head_width = head_width,
          .attention_bias = attention_bias,
          .attention_out_bias = attention_out_bias,
          .separate_projections = separate_projections,
          .query_key_norm = query_key_norm,
          .ffn_bias = ffn_bias,
          .activation = activation,
          .gated = gated,
          .norm = norm,
          .norm_epsilon = norm_epsilon,
          .norm_place = norm_place,
          .dropout = dropout,
          .attention_dropout = attention_dropout,
          .activation_dropout = activation_dropout,
          .self_attention =
              scores_by_layer ? divided(chosen, layer + 1, head_width > 0 ? head_width : width / heads) : chosen,
          .cross = decoder && has_encoder(),
          .cross_attention = cross_attention,
          .max_positions = max_length};
}

void TransformerConfig::check() const {
  check_ranges(*this, "Transformer");
  HEED_CHECK(has_encoder() || has_decoder(), "Transformer: needs layers: encoder_layers and decoder_layers are 0");
  HEED_CHECK(head_width > 0 || width % heads == 0, "Transformer: width {} must be a multiple of heads {}", width,
             heads);
  HEED_CHECK(norm_place != NormPlace::parallel || !has_encoder(),
             "Transformer: norm_place parallel is for language models");
  HEED_CHECK(token_types == 0 || has_encoder(), "Transformer: token_types are of an encoder, which has no layers");
  HEED_CHECK(padding_token < 0 || (positions == PositionKind::learned && has_encoder() && !has_decoder()),
             "Transformer: padding_token is of an encoder's learned positions, without a decoder");
  HEED_CHECK(factorised_embedding == 0 || !has_decoder() || !has_encoder(),
             "Transformer: factorised_embedding is of an encoder or of a decoder, not of both");
  HEED_CHECK(!scores_by_layer || (is_dot_product(attention) && !alternate),
             "Transformer: scores_by_layer is of dot products without other terms, not of {}", attention.text());
  HEED_CHECK(!encoder_heads.masked_words || !has_decoder(),
             "Transformer: encoder_heads: masked_words are of an encoder without a decoder");
  HEED_CHECK((encoder_heads.classifier != ClassifierKind::none) == !encoder_heads.labels.empty(),
             "Transformer: encoder_heads: a classifier has labels, and nothing else has: there are {}",
             encoder_heads.labels.size());
  HEED_CHECK(encoder_heads.classifier != ClassifierKind::spans || encoder_heads.labels.size() == 2,
             "Transformer: encoder_heads: spans have two labels, of their start and their end, not {}",
             encoder_heads.labels.size());
  HEED_CHECK(!encoder_heads.distilled ||
                 (signal.distilled && !has_decoder() && encoder_heads.classifier == ClassifierKind::sequence),
             "Transformer: encoder_heads: distilled is of a classifier of pictures whose signal is");
  HEED_CHECK(!share_embeddings || source_vocabulary == target_vocabulary,
             "Transformer: share_embeddings needs equal vocabularies, but they have {} and {} pieces",
             source_vocabulary, target_vocabulary);
  HEED_CHECK(kv_heads == 0 || heads % kv_heads == 0,
             "Transformer: kv_heads must be 0 or a divisor of the {} heads, but is {}", heads, kv_heads);
  HEED_CHECK(!signal.any() || (has_encoder() && token_types == 0 && factorised_embedding == 0),
             "Transformer: a signal is read by an encoder, in the place of tokens");
  HEED_CHECK(!signal.any() || !encoder_heads.masked_words, "Transformer: a signal has no words to be masked");
  for (const Index layer : alternate_layers) {
    HEED_CHECK(layer >= 0 && layer < std::max(encoder_layers, decoder_layers),
               "Transformer: alternate_layers: there is no layer {}", layer);
  }
  signal.check();
  check_cross(cross_attention);
}

TransformerConfig transformer_config_from_json(const Json& json) {
  TransformerConfig config;
  Json complete = json.has("norm_first") ? renamed(json) : json;
  // Those of before models of others could be read had none of these.
  const Json defaults = to_json(config);
  for (std::string_view name : {"head_width",
                                "attention_bias",
                                "attention_out_bias",
                                "separate_projections",
                                "query_key_norm",
                                "ffn_bias",
                                "norm_epsilon",
                                "final_norm",
                                "alternate",
                                "alternate_attention",
                                "alternate_layers",
                                "embedding_scale",
                                "embedding_norm",
                                "token_types",
                                "padding_token",
                                "zero_start",
                                "causal",
                                "has_output",
                                "output_bias",
                                "logit_scale",
                                "logit_soft_cap",
                                "factorised_embedding",
                                "scores_by_layer",
                                "encoder_heads",
                                "signal"}) {
    if (!complete.has(name)) complete.set(name, defaults[name]);
  }
  from_json(complete, config);
  return config;
}

}  // namespace heed
