// The Transformer encoder-decoder (Vaswani et al. 2017): one class, one configuration.
//
//   DrawnParameters drawn(Rng(1));
//   Transformer model(drawn, {.source_vocabulary = 8000, .target_vocabulary = 8000, .width = 256, .heads = 4});
#pragma once

#include <span>
#include <vector>

#include "heed/layers/embedding.h"
#include "heed/layers/positions.h"
#include "heed/layers/transformer_layer.h"
#include "heed/models/transformer_config.h"
#include "heed/models/translation_model.h"

namespace heed {

class Transformer : public TranslationModel {
 public:
  // Throws heed::Error for a configuration that makes no sense, naming the field.
  Transformer(const ParameterScope& scope, const TransformerConfig& config);

  const TransformerConfig& config() const { return config_; }
  LossResult loss(const Context& context, const TranslationBatch& batch,
                  const CrossEntropyOptions& options) const override;
  std::unique_ptr<DecoderState> start() const override;
  void admit(const Context& context, DecoderState& state, const TokenBatch& sources) const override;
  Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const override;
  Index vocabulary() const override { return config_.target_vocabulary; }
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
