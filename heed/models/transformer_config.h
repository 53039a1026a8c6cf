// What a Transformer is made of.
//
//   TransformerConfig config{.source_vocabulary = 8000, .target_vocabulary = 8000, .width = 256, .heads = 4};
//   config.attention = AttentionChoice("relative + window(16)");
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/json.h"
#include "heed/io/number_range.h"
#include "heed/layers/transformer_block.h"
#include "heed/models/encoder_heads_options.h"
#include "heed/models/signal_options.h"

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

// Whether the output of a stack is normalised after its last layer.
enum class FinalNorm {
  automatic,  // where its layers do not end in a norm (not with NormPlace::post)
  always,     // torch.nn.Transformer
  never,      // torch.nn.TransformerEncoder and TransformerDecoder where they are given none
  encoder,    // of the encoder's stack alone
  decoder,    // of the decoder's alone
};
inline constexpr std::pair<std::string_view, FinalNorm> kFinalNormNames[] = {{"automatic", FinalNorm::automatic},
                                                                             {"always", FinalNorm::always},
                                                                             {"never", FinalNorm::never},
                                                                             {"encoder", FinalNorm::encoder},
                                                                             {"decoder", FinalNorm::decoder}};
// That of stacks of which these have one.
FinalNorm final_norm_of(bool encoder, bool decoder);
inline std::span<const std::pair<std::string_view, FinalNorm>> enum_names(FinalNorm) { return kFinalNormNames; }

// With an encoder and a decoder it translates; with a decoder alone it is a language model; with an encoder alone it
// turns text into vectors. The encoder of one with a signal reads pictures or sound; its source_vocabulary, its
// positions and its max_length are the decoder's, or mean nothing where it has none.
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

  // What models of others have.
  Index head_width = 0;
  bool attention_bias = true;
  bool attention_out_bias = true;
  bool separate_projections = false;
  bool query_key_norm = false;
  bool ffn_bias = true;
  double norm_epsilon = 1e-5;
  FinalNorm final_norm = FinalNorm::automatic;
  bool alternate = false;
  AttentionChoice alternate_attention{};
  std::vector<Index> alternate_layers{};
  double embedding_scale = 0;
  bool embedding_norm = false;
  Index token_types = 0;
  Index padding_token = -1;
  bool zero_start = false;
  bool causal = true;
  bool has_output = true;
  bool output_bias = false;
  double logit_scale = 1;
  double logit_soft_cap = 0;
  Index factorised_embedding = 0;
  bool scores_by_layer = false;
  EncoderHeadsOptions encoder_heads{};
  SignalOptions signal{};

  bool has_encoder() const { return encoder_layers > 0; }
  bool has_decoder() const { return decoder_layers > 0; }
  bool has_final_norm(bool decoder) const;
  // The width of the tables of embeddings and types, and of what a decoder's output projection reads.
  Index table_width() const { return factorised_embedding > 0 ? factorised_embedding : width; }
  // A decoder's embeddings are mapped to its width before positions are added, an encoder's after it.
  Index position_width() const { return has_decoder() ? width : table_width(); }
  // Whether a layer attends as alternate_attention says.
  bool alternates(Index layer) const;
  // The options of the encoder's block `layer`, or of the decoder's.
  TransformerBlockOptions block(bool decoder, Index layer) const;
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
    visit("decoder_layers", c.decoder_layers, "Layers of the decoder.", NumberRange::from(0, 1024));
    visit("activation", c.activation, "Activation of the feed-forward network.");
    visit("gated", c.gated, "The feed-forward network is gated: SwiGLU with silu, GeGLU with gelu.");
    visit("norm", c.norm, "Norms: layer, or rms (root mean square).");
    visit("norm_place", c.norm_place,
          "Where a sub-layer is normalised: pre (before it), post (after its residual), both, residual (before it "
          "and its residual), or parallel (before it, "
          "and a block's sub-layers are beside each other).");
    visit("positions", c.positions, "Positions added to embeddings: sinusoidal, learned or none.");
    visit("max_length", c.max_length, "The most tokens of a sentence.", NumberRange::from(2, 1 << 24));
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
    visit("head_width", c.head_width, "Width of a head; 0: the width divided by the heads.",
          NumberRange::from(0, 1 << 24));
    visit("attention_bias", c.attention_bias, "Projections of attention have biases.");
    visit("attention_out_bias", c.attention_out_bias, "So does its output's, where the others do.");
    visit("separate_projections", c.separate_projections,
          "Queries, keys and values are projected by matrices of their own, not by one.");
    visit("query_key_norm", c.query_key_norm, "Each head's query and key is normalised, as norm says.");
    visit("ffn_bias", c.ffn_bias, "The feed-forward network's maps have biases.");
    visit("norm_epsilon", c.norm_epsilon, "Epsilon of all norms.", NumberRange::from(0, 1));
    visit("final_norm", c.final_norm,
          "A norm after the last layer: automatic (not where layers end in one), always, never, or of the encoder or "
          "the decoder alone.");
    visit("alternate", c.alternate,
          "Layers 1, 3, 5, ... (counted from 0), or those of alternate_layers, attend as alternate_attention says.");
    visit("alternate_attention", c.alternate_attention, "Self-attention of these layers, as attention.");
    visit("alternate_layers", c.alternate_layers, "Layers that alternate_attention is of; none: every other one.");
    visit("embedding_scale", c.embedding_scale, "What embeddings are multiplied by; 0: the root of the width.",
          NumberRange::from(0, 1e6));
    visit("embedding_norm", c.embedding_norm, "Embeddings, with their positions, are normalised.");
    visit("token_types", c.token_types, "Types of a source's tokens, each with a vector that is added; 0: none.",
          NumberRange::from(0, 1 << 16));
    visit(
        "padding_token", c.padding_token,
        "The id of a source's padding where positions are of the other tokens, counted from 1, and padding stands at 0 "
        "(RoBERTa); -1: they are of all tokens, counted from 0.",
        NumberRange::from(-1, 1 << 24));
    visit("zero_start", c.zero_start,
          "The vector of the token that the decoder begins with is zero, whichever token it is.");
    visit("causal", c.causal,
          "No token of the decoder sees a later one; else each sees all of its row, so rows must be of one length.");
    visit("has_output", c.has_output,
          "The decoder says how likely each next token is; else it gives vectors, of which no text is made.");
    visit("output_bias", c.output_bias, "The output projection has a bias.");
    visit("logit_scale", c.logit_scale, "What the output projection's input is multiplied by.", NumberRange::above(0));
    visit("logit_soft_cap", c.logit_soft_cap, "Logits x become cap * tanh(x / cap); 0: they stay.",
          NumberRange::from(0, 1e6));
    visit("factorised_embedding", c.factorised_embedding,
          "Width of an encoder's embeddings, which a matrix maps to the model's (ALBERT), or of a language model's, "
          "which another maps back to before the output (OPT); 0: they have the model's.",
          NumberRange::from(0, 1 << 24));
    visit("scores_by_layer", c.scores_by_layer,
          "Scaled dot products are divided by 1 in the first layer, by 2 in the second, and so on (GPT-2).");
    visit("encoder_heads", c.encoder_heads,
          "What an encoder's vectors are used for, or, where there is a decoder, its own.");
    visit("signal", c.signal, "What the encoder reads in the place of tokens.");
  }
};

// Reads a configuration; one of an earlier heed too, whose self-attention was a kind with seven numbers. Throws
// heed::Error naming the field that is wrong.
TransformerConfig transformer_config_from_json(const Json& json);

}  // namespace heed
