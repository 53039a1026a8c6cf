// The Transformer (Vaswani et al. 2017): a stack of blocks that decodes, and before it, where there is a source, one
// that encodes. With both it translates, with a decoder alone it is a language model, with an encoder alone it turns
// text into vectors; its source may be a picture or sound (SignalInput). One class, one configuration.
//
//   DrawnParameters drawn(Rng(1));
//   Transformer model(drawn, {.source_vocabulary = 8000, .target_vocabulary = 8000, .width = 256, .heads = 4});
#pragma once

#include <span>
#include <vector>

#include "heed/layers/embedding.h"
#include "heed/layers/linear.h"
#include "heed/layers/transformer_block.h"
#include "heed/models/encoder_heads.h"
#include "heed/models/sequence_model.h"
#include "heed/models/signal_input.h"
#include "heed/models/token_input.h"
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
    return config_.tie_output && config_.has_output ? target_embedding_.weight() : output_weight_;
  }
  Var output_bias() const override { return output_bias_; }
  double logit_soft_cap() const override { return config_.logit_soft_cap; }

  std::unique_ptr<DecoderState> start(Precision cache) const override;
  void admit(const Context& context, DecoderState& state, const TokenBatch& sequences) const override;
  bool go_on(const Context& context, DecoderState& state, Index kept,
             std::span<const std::int32_t> tokens) const override;
  Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const override;
  Index vocabulary() const override { return config_.target_vocabulary; }
  Index max_length() const override { return config_.max_length; }
  Index max_steps(Index admitted) const override { return has_source() ? max_length() : max_length() - admitted; }

  // Encoder output [B, S, width] for source ids, and their types, i32 [B, S], where the model has some; or for a
  // signal.
  Var encode(const Context& context, const TokenBatch& source, const Tensor& types = {}) const;
  // What encode's output is used for, or, where there is a decoder, that of features.
  const EncoderHeads& heads() const { return heads_; }
  // The source's table of embeddings.
  const Embedding& source_embedding() const { return source_embedding_; }

 private:
  class State;

  Var normed(const Context& context, const Var& x, EmbeddedSide side) const;
  // What the projection reads of the last layer's output, normed.
  Var read_out(const Context& context, const Var& x) const;
  // x through a side's blocks and its final norm; forward(block, x) is what a block gives.
  template <class F>
  Var through(const Context& context, EmbeddedSide side, Var x, const F& forward) const;
  // The decoder's output for its input ids over the encoder's, where there is one: what the projection reads.
  Var decode(const Context& context, const Tensor& input, const Tensor& offsets, const Var& encoded,
             const Tensor& source_lengths) const;
  // A step of a decoder that is not causal, and so keeps no keys: every row reads all of its tokens again.
  Var reread(const Context& context, State& state, std::span<const std::int32_t> tokens) const;

  TransformerConfig config_;
  Embedding source_embedding_, target_embedding_;  // one table where they share it
  TokenInput source_input_, target_input_;
  SignalInput signal_input_;  // in place of source_input_ where config_ has a signal
  std::vector<TransformerBlock> encoder_, decoder_;
  Norm encoder_norm_, decoder_norm_;  // where config_.has_final_norm() of them
  Linear output_projection_;          // to the width of factorised embeddings, of a decoder that has some
  Var output_weight_, output_bias_;   // where there is an output and it is not tied; where it has one
  EncoderHeads heads_;
};

}  // namespace heed
