// The Transformer encoder-decoder (Vaswani et al. 2017): one class, one configuration.
//
//   Rng rng(1);
//   Transformer model({.source_vocabulary = 8000, .target_vocabulary = 8000, .width = 256, .heads = 4}, rng);
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/layers/embedding.h"
#include "heed/layers/positions.h"
#include "heed/layers/transformer_layer.h"
#include "heed/models/translation_model.h"

namespace heed {

enum class PositionKind { sinusoidal, learned };
inline constexpr std::pair<std::string_view, PositionKind> kPositionKindNames[] = {{"sinusoidal", PositionKind::sinusoidal},
                                                                                  {"learned", PositionKind::learned}};
inline std::span<const std::pair<std::string_view, PositionKind>> enum_names(PositionKind) { return kPositionKindNames; }

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

  // Elements of the model's weight matrices.
  double weight_count() const;

  template <typename V>
  friend void visit_fields(TransformerConfig& c, V&& visit) {
    visit("source_vocabulary", c.source_vocabulary, "Pieces of the source vocabulary.");
    visit("target_vocabulary", c.target_vocabulary, "Pieces of the target vocabulary.");
    visit("width", c.width, "Width of the model: of embeddings and of every layer's input and output.");
    visit("heads", c.heads, "Attention heads; they split the width.");
    visit("hidden", c.hidden, "Width of the feed-forward network's hidden layer.");
    visit("encoder_layers", c.encoder_layers, "Layers of the encoder.");
    visit("decoder_layers", c.decoder_layers, "Layers of the decoder.");
    visit("activation", c.activation, "Activation of the feed-forward network.");
    visit("norm_first", c.norm_first, "Normalise before each sub-layer (pre-norm) instead of after it.");
    visit("positions", c.positions, "Positions: sinusoidal or learned.");
    visit("max_length", c.max_length, "The most tokens of a sentence.");
    visit("share_embeddings", c.share_embeddings, "One embedding table for source and target.");
    visit("tie_output", c.tie_output, "The output projection is the target's embedding table.");
    visit("dropout", c.dropout, "Dropout of embeddings and of each sub-layer's output.");
    visit("attention_dropout", c.attention_dropout, "Dropout of attention weights.");
    visit("activation_dropout", c.activation_dropout, "Dropout of the feed-forward network's hidden layer.");
  }
};

class Transformer : public TranslationModel {
 public:
  // Throws heed::Error for a configuration that makes no sense, naming the field.
  Transformer(const TransformerConfig& config, Rng& rng);

  const TransformerConfig& config() const { return config_; }
  ParameterList parameters() const override;
  LossResult loss(const Context& context, const TranslationBatch& batch, const CrossEntropyOptions& options) const override;
  std::unique_ptr<DecoderState> start(const Context& context, const TokenBatch& source) const override;
  Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const override;
  Index max_length() const override { return config_.max_length; }

  // Encoder output [B, S, width] for source ids.
  Var encode(const Context& context, const TokenBatch& source) const;

 private:
  const Embedding& target_embedding() const { return config_.share_embeddings ? source_embedding_ : target_embedding_; }
  // The output projection's weight [target_vocabulary, width].
  const Var& output_weight() const { return config_.tie_output ? target_embedding().weight() : output_.weight(); }

  TransformerConfig config_;
  Embedding source_embedding_, target_embedding_;
  Positions source_positions_, target_positions_;
  std::vector<TransformerEncoderLayer> encoder_;
  std::vector<TransformerDecoderLayer> decoder_;
  LayerNorm encoder_norm_, decoder_norm_;  // pre-norm only: its last layer's output is not normalised
  Linear output_;                          // where the output is not tied
};

}  // namespace heed
