// What decoding needs of a model: it admits sequences, and then reads one token of each a step.
//
//   std::unique_ptr<DecoderState> state = model.start(Precision::f32);
//   model.admit(context, *state, sources);                        // a row for each
//   Tensor logits = model.step(context, *state, first_tokens);    // of the next token, [rows, vocabulary]
//   state->select_rows(survivors);                                // a beam search's choice; those that ended are gone
#pragma once

#include <memory>
#include <span>

#include "heed/autograd/context.h"
#include "heed/tensor/precision.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Sequences as ids i32 [B, L], padded, and their lengths i32 [B]; or, for a model that sees or hears, what it reads
// (heed/models/signal_input.h), and nothing else.
struct TokenBatch {
  Tensor ids{};
  Tensor lengths{};
  Tensor signal{};

  bool is_empty() const { return ids.is_empty() && signal.is_empty(); }
  Index sequences() const { return signal.is_empty() ? lengths.size() : signal.dim(0); }
};

// Where the decoding of some sequences stands. Each has a row, or several that went different ways; each row has read
// as many tokens as it has, whatever the others have.
class DecoderState {
 public:
  virtual ~DecoderState() = default;
  // Keeps, in this order, the given rows; one may come several times.
  virtual void select_rows(std::span<const Index> rows) = 0;
};

class NextToken {
 public:
  virtual ~NextToken() = default;

  // A state without rows, which keeps keys and values in the cache's type. Throws heed::Error for one that is not f32
  // where the model keeps none.
  virtual std::unique_ptr<DecoderState> start(Precision cache) const = 0;
  // Reads sequences and adds a row for each behind those that there are. They are what precedes the first token that
  // step feeds: for a translation the source (step begins with the begin token), for a text its prompt but the last
  // token (step begins with that). Inference only (no tape).
  virtual void admit(const Context& context, DecoderState& state, const TokenBatch& sequences) const = 0;
  // Takes a state of one row back to the first `kept` of the tokens that it has read, and reads others behind them: it
  // then has the bits of one that was admitted with all of these. Returns false, and has done nothing, where the model
  // cannot: it has a source, its tokens see later ones, or what it keeps of them is rounded or no longer apart.
  // Inference only. Throws heed::Error where there are other rows, or fewer tokens.
  virtual bool go_on(const Context&, DecoderState&, Index /*kept*/, std::span<const std::int32_t> /*tokens*/) const {
    return false;
  }
  // Feeds one token to each row and returns the logits of the next, [rows, vocabulary()]. A row's have the same bits
  // whatever other rows there are. Inference only.
  virtual Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const = 0;

  virtual Index vocabulary() const = 0;
  // The most tokens that a sequence may have.
  virtual Index max_length() const = 0;
  // The most steps of a row that was admitted with so many tokens.
  virtual Index max_steps(Index admitted) const = 0;
};

}  // namespace heed
