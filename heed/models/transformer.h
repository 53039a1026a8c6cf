// The Transformer (Vaswani et al. 2017): a stack of blocks that decodes, and before it, where there is a source, one
// that encodes. With both it translates, with a decoder alone it is a language model; one class, one configuration.
//
//   DrawnParameters drawn(Rng(1));
//   Transformer model(drawn, {.source_vocabulary = 8000, .target_vocabulary = 8000, .width = 256, .heads = 4});
#pragma once

#include <span>
#include <vector>

#include "heed/layers/embedding.h"
#include "heed/layers/positions.h"
#include "heed/layers/transformer_block.h"
#include "heed/models/sequence_model.h"
#include "heed/models/transformer_config.h"

namespace heed {

class Transformer : public SequenceModel {
 public:
  // Throws heed::Error for a configuration that makes no sense, naming the field.
  Transformer(const ParameterScope& scope, const TransformerConfig& config);

  const TransformerConfig& config() const { return config_; }
  bool has_source() const override { return config_.has_encoder(); }
  Var features(const Context& context, const SequenceBatch& batch) const override;
  const Var& output_weight() const override {
    return config_.tie_output ? target_embedding_.weight() : output_.weight();
  }

  std::unique_ptr<DecoderState> start() const override;
  void admit(const Context& context, DecoderState& state, const TokenBatch& sequences) const override;
  Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const override;
  Index vocabulary() const override { return config_.target_vocabulary; }
  Index max_length() const override { return config_.max_length; }
  Index max_steps(Index admitted) const override { return has_source() ? max_length() : max_length() - admitted; }

  // Encoder output [B, S, width] for source ids.
  Var encode(const Context& context, const TokenBatch& source) const;

 private:
  Var normed(const Context& context, const Var& x, const Norm& norm) const;

  TransformerConfig config_;
  Embedding source_embedding_, target_embedding_;  // one table where they share it
  Positions source_positions_, target_positions_;
  std::vector<TransformerBlock> encoder_, decoder_;
  Norm encoder_norm_, decoder_norm_;  // where the last block's output is not normalised
  Linear output_;                     // where the output is not tied
};

}  // namespace heed
