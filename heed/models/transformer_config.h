// What a Transformer is made of.
//
//   TransformerConfig config{.source_vocabulary = 8000, .target_vocabulary = 8000, .width = 256, .heads = 4};
//   config.attention = SelfAttentionKind::local;
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/io/number_range.h"
#include "heed/ops/activation.h"
#include "heed/ops/attention/spec/mask.h"

namespace heed {

enum class PositionKind { sinusoidal, learned };
inline constexpr std::pair<std::string_view, PositionKind> kPositionKindNames[] = {
    {"sinusoidal", PositionKind::sinusoidal}, {"learned", PositionKind::learned}};
inline std::span<const std::pair<std::string_view, PositionKind>> enum_names(PositionKind) {
  return kPositionKindNames;
}

// What a token sees of its own sentence: the self-attention of the encoder and, with nothing after the token, of the
// decoder. Cross-attention is softmax over the whole source in all of them: one query a step over keys that stay gains
// nothing from a state, and alignments are read from its weights.
enum class SelfAttentionKind {
  softmax,  // every position
  local,    // those within attention_window
  strided,  // those within attention_stride, and every one so many away      (Child et al. 2019, strided)
  fixed,    // its own block, and the last attention_summary of every block   (Child et al. 2019, fixed)
  bigbird,  // blocks: those beside its own, global ones and random ones      (Zaheer et al. 2020)
  linear,   // every position, weighted by phi(q) . phi(k)                    (Katharopoulos et al. 2020)
};
inline constexpr std::pair<std::string_view, SelfAttentionKind> kSelfAttentionKindNames[] = {
    {"softmax", SelfAttentionKind::softmax}, {"local", SelfAttentionKind::local},
    {"strided", SelfAttentionKind::strided}, {"fixed", SelfAttentionKind::fixed},
    {"bigbird", SelfAttentionKind::bigbird}, {"linear", SelfAttentionKind::linear}};
inline std::span<const std::pair<std::string_view, SelfAttentionKind>> enum_names(SelfAttentionKind) {
  return kSelfAttentionKindNames;
}

struct TransformerConfig {
  Index source_vocabulary = 0;
  Index target_vocabulary = 0;
  Index width = 256;
  Index heads = 4;
  Index hidden = 1024;
  Index encoder_layers = 3;
  Index decoder_layers = 3;
  Activation activation = Activation::relu;
  bool norm_first = true;
  PositionKind positions = PositionKind::sinusoidal;
  Index max_length = 256;
  bool share_embeddings = true;
  bool tie_output = true;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  double activation_dropout = 0.0;
  SelfAttentionKind attention = SelfAttentionKind::softmax;
  Index attention_window = 8;
  Index attention_stride = 8;
  Index attention_block = 8;
  Index attention_summary = 1;
  Index attention_global = 1;
  Index attention_random = 1;
  Index key_value_heads = 0;

  // What the first configurations, of models that are softmax attention with as many key/value heads, do not have.
  static constexpr std::string_view kLaterFields[] = {"attention",        "attention_window",  "attention_stride",
                                                      "attention_block",  "attention_summary", "attention_global",
                                                      "attention_random", "key_value_heads"};

  static constexpr Index kMostRandom = 16;  // of Mask::bigbird

  // The keys that self-attention may see at all.
  Mask self_attention_mask() const;
  // Throws heed::Error naming the field that makes no sense.
  void check() const;

  template <typename V>
  friend void visit_fields(TransformerConfig& c, V&& visit) {
    visit("source_vocabulary", c.source_vocabulary, "Pieces of the source vocabulary.", NumberRange::from(1, 1 << 24));
    visit("target_vocabulary", c.target_vocabulary, "Pieces of the target vocabulary.", NumberRange::from(1, 1 << 24));
    visit("width", c.width, "Width of the model: of embeddings and of every layer's input and output.",
          NumberRange::from(1, 1 << 24));
    visit("heads", c.heads, "Attention heads; they split the width.", NumberRange::from(1, 1 << 24));
    visit("hidden", c.hidden, "Width of the feed-forward network's hidden layer.", NumberRange::from(1, 1 << 24));
    visit("encoder_layers", c.encoder_layers, "Layers of the encoder.", NumberRange::from(1, 1024));
    visit("decoder_layers", c.decoder_layers, "Layers of the decoder.", NumberRange::from(1, 1024));
    visit("activation", c.activation, "Activation of the feed-forward network.");
    visit("norm_first", c.norm_first, "Normalise before each sub-layer (pre-norm) instead of after it.");
    visit("positions", c.positions, "Positions: sinusoidal or learned.");
    visit("max_length", c.max_length, "The most tokens of a sentence.", NumberRange::from(2, 1 << 16));
    visit("share_embeddings", c.share_embeddings, "One embedding table for source and target.");
    visit("tie_output", c.tie_output, "The output projection is the target's embedding table.");
    visit("dropout", c.dropout, "Dropout of embeddings and of each sub-layer's output.", NumberRange::from_below(0, 1));
    visit("attention_dropout", c.attention_dropout, "Dropout of attention weights; linear attention forms none.",
          NumberRange::from_below(0, 1));
    visit("activation_dropout", c.activation_dropout, "Dropout of the feed-forward network's hidden layer.",
          NumberRange::from_below(0, 1));
    visit("attention", c.attention,
          "Self-attention: softmax (every position), local, strided, fixed, bigbird (sparse) or linear.");
    visit("attention_window", c.attention_window, "local: positions seen on each side of a token.",
          NumberRange::from(0, 1 << 24));
    visit("attention_stride", c.attention_stride, "strided: positions seen around a token, and the step beyond them.",
          NumberRange::from(1, 1 << 24));
    visit("attention_block", c.attention_block, "fixed, bigbird: positions of a block.", NumberRange::from(1, 1 << 24));
    visit("attention_summary", c.attention_summary, "fixed: the last positions of each block, that all tokens see.",
          NumberRange::from(0, 1 << 24));
    visit("attention_global", c.attention_global, "bigbird: the first blocks, that see and are seen by all.",
          NumberRange::from(0, 1 << 24));
    visit("attention_random", c.attention_random, "bigbird: random further blocks for each block and head.",
          NumberRange::from(0, kMostRandom));
    visit("key_value_heads", c.key_value_heads,
          "Key/value heads of every attention; a divisor of the heads (1: multi-query), or 0: as many.",
          NumberRange::from(0, 1 << 24));
  }
};

}  // namespace heed
