// Recurrent translation with attention: Bahdanau et al. 2015 and Luong et al. 2015, one class, one configuration.
//
//   DrawnParameters drawn(Rng(1));
//   RnnConfig config = bahdanau_config();
//   config.source_vocabulary = config.target_vocabulary = 8000;
//   RnnTranslator model(drawn, config);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/layers/embedding.h"
#include "heed/layers/recurrent.h"
#include "heed/models/rnn_config.h"
#include "heed/models/sequence_model.h"

namespace heed {

// With e the embedding of the token that the decoder reads and att(q) the encoder's states averaged by attention from
// q:
//
//   bahdanau   c = att(s_prev), s = cell([e; c], s_prev), readout tanh(W [s; c; e])
//              The first state is tanh(W_init h), where h is the reverse direction's state at the first token (the last
//              state of an encoder of one direction); an LSTM's memory cell starts at zero. The paper's readout is a
//              maxout of the state before the step; and its GRU is CellKind::gru_reset_first.
//   luong      s = cell([e; r_prev], s_prev), c = att(s), r = tanh(W [s; c]) (eq. 5); without input feeding,
//              s = cell(e, s_prev).
//              The first state is the encoder's last, its directions side by side; r starts at zero.
//
// A decoder of several layers attends from, and gives, its last layer's state; layer i starts from encoder layer i, or
// the last. The readout r has the embeddings' width, so that the output projection can be their table.
class RnnTranslator : public SequenceModel {
 public:
  // Throws heed::Error for a configuration that makes no sense, naming the field.
  RnnTranslator(const ParameterScope& scope, const RnnConfig& config);

  const RnnConfig& config() const { return config_; }
  bool has_source() const override { return true; }
  Var features(const Context& context, const SequenceBatch& batch) const override;
  const Var& output_weight() const override {
    return config_.tie_output ? target_embedding().weight() : output_.weight();
  }

  std::unique_ptr<DecoderState> start(Precision cache) const override;
  void admit(const Context& context, DecoderState& state, const TokenBatch& sources) const override;
  Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const override;
  Index vocabulary() const override { return config_.target_vocabulary; }
  Index max_length() const override { return config_.max_length; }
  Index max_steps(Index) const override { return max_length(); }

 private:
  // Where the decoder stands.
  struct Position {
    AttentionMemory memory;
    std::vector<RecurrentState> states;  // one a layer
    Var feed;                            // input feeding: the last readout [B, embedding_width]
    std::vector<Index> lengths;          // tokens that each sentence has read so far

    void read_token() {
      for (Index& length : lengths) ++length;
    }
  };
  class State;

  Position begin(const Context& context, const TokenBatch& source) const;
  std::vector<RecurrentState> initial_states(const Context& context, const RecurrentOutput& encoded) const;
  // One step: reads e [B, embedding_width], moves `at` on, and returns what attention found [B, memory_width].
  Var advance(const Context& context, const Var& e, Position& at) const;
  // Attention from the top state [B, state_width] of `at` to each sentence.
  Var attend(const Context& context, const Position& at) const;
  // state, found and e are [.., *] of one rank, for one position or for all.
  Var readout(const Context& context, const Var& state, const Var& found, const Var& e) const;
  // The readouts [B, T, embedding_width] of a whole target e [B, T, embedding_width].
  Var read_target(const Context& context, const Var& e, Position at) const;

  const Embedding& target_embedding() const { return config_.share_embeddings ? source_embedding_ : target_embedding_; }

  RnnConfig config_;
  Embedding source_embedding_, target_embedding_;
  Recurrent encoder_, decoder_;
  std::vector<Linear> initial_;  // bahdanau: one a decoder layer
  RnnAttention attention_;
  Linear readout_;
  Linear output_;  // where the output is not tied
};

}  // namespace heed
