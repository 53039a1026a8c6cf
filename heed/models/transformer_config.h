// What a Transformer is made of.
//
//   TransformerConfig config{.source_vocabulary = 8000, .target_vocabulary = 8000, .width = 256, .heads = 4};
//   config.attention = AttentionChoice("relative + window(16)");
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/io/json.h"
#include "heed/io/number_range.h"
#include "heed/layers/transformer_block.h"

namespace heed {

enum class PositionKind {
  sinusoidal,
  learned,
  none,  // where attention itself tells positions apart
};
inline constexpr std::pair<std::string_view, PositionKind> kPositionKindNames[] = {
    {"sinusoidal", PositionKind::sinusoidal}, {"learned", PositionKind::learned}, {"none", PositionKind::none}};
inline std::span<const std::pair<std::string_view, PositionKind>> enum_names(PositionKind) {
  return kPositionKindNames;
}

// With an encoder and a decoder it translates; with a decoder alone it is a language model.
struct TransformerConfig {
  Index source_vocabulary = 0;
  Index target_vocabulary = 0;
  Index width = 256;
  Index heads = 4;
  Index kv_heads = 0;
  Index ffn_width = 1024;
  Index encoder_layers = 3;
  Index decoder_layers = 3;
  Activation activation = Activation::relu;
  bool gated = false;
  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::pre;
  PositionKind positions = PositionKind::sinusoidal;
  Index max_length = 256;
  bool share_embeddings = true;
  bool tie_output = true;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  double activation_dropout = 0.0;
  AttentionChoice attention{};
  AttentionChoice cross_attention{};

  bool has_encoder() const { return encoder_layers > 0; }
  // The options of the encoder's blocks, or of the decoder's.
  TransformerBlockOptions block(bool decoder) const;
  // Throws heed::Error naming the field that makes no sense.
  void check() const;

  template <typename V>
  friend void visit_fields(TransformerConfig& c, V&& visit) {
    visit("source_vocabulary", c.source_vocabulary, "Pieces of the source vocabulary.", NumberRange::from(1, 1 << 24));
    visit("target_vocabulary", c.target_vocabulary, "Pieces of the target vocabulary.", NumberRange::from(1, 1 << 24));
    visit("width", c.width, "Width of the model: of embeddings and of every layer's input and output.",
          NumberRange::from(1, 1 << 24));
    visit("heads", c.heads, "Attention heads; they split the width.", NumberRange::from(1, 1 << 24));
    visit("kv_heads", c.kv_heads,
          "Key/value heads of every attention; a divisor of the heads (1: multi-query), or 0: as many.",
          NumberRange::from(0, 1 << 24));
    visit("ffn_width", c.ffn_width, "Width of the feed-forward network's hidden layer.", NumberRange::from(1, 1 << 24));
    visit("encoder_layers", c.encoder_layers, "Layers of the encoder.", NumberRange::from(0, 1024));
    visit("decoder_layers", c.decoder_layers, "Layers of the decoder.", NumberRange::from(1, 1024));
    visit("activation", c.activation, "Activation of the feed-forward network.");
    visit("gated", c.gated, "The feed-forward network is gated: SwiGLU with silu, GeGLU with gelu.");
    visit("norm", c.norm, "Norms: layer, or rms (root mean square).");
    visit("norm_place", c.norm_place,
          "Where a sub-layer is normalised: pre (before it), post (after its residual) or both.");
    visit("positions", c.positions, "Positions added to embeddings: sinusoidal, learned or none.");
    visit("max_length", c.max_length, "The most tokens of a sentence.", NumberRange::from(2, 1 << 16));
    visit("share_embeddings", c.share_embeddings, "One embedding table for source and target.");
    visit("tie_output", c.tie_output, "The output projection is the target's embedding table.");
    visit("dropout", c.dropout, "Dropout of embeddings and of each sub-layer's output.", NumberRange::from_below(0, 1));
    visit("attention_dropout", c.attention_dropout, "Dropout of attention weights; linear attention forms none.",
          NumberRange::from_below(0, 1));
    visit("activation_dropout", c.activation_dropout, "Dropout of the feed-forward network's hidden layer.",
          NumberRange::from_below(0, 1));
    visit("attention", c.attention,
          "Self-attention: terms joined by +, such as \"cosine + relative + window(8)\"; docs/attention.md lists "
          "them.");
    visit("cross_attention", c.cross_attention,
          "The decoder's attention to the source: a score, soft_cap and a normaliser, such as \"sparsemax\".");
  }
};

// Reads a configuration; one of an earlier heed too, whose self-attention was a kind with seven numbers. Throws
// heed::Error naming the field that is wrong.
TransformerConfig transformer_config_from_json(const Json& json);

}  // namespace heed
