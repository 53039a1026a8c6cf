// What every model of sequences can do: say how likely each next token is, learn that, and decode one token at a time.
#pragma once

#include "heed/autograd/context.h"
#include "heed/autograd/var.h"
#include "heed/base/error.h"
#include "heed/models/next_token.h"
#include "heed/ops/loss.h"

namespace heed {

// What a model reads and is to predict. Sequences are rows, padded, or they lie end to end in one row.
struct SequenceBatch {
  TokenBatch source{};  // of a translation; empty for a language model
  Tensor input{};       // what the decoder reads, begin token first: i32 [B, T]
  Tensor output{};      // what follows each of them, end token last: i32 [B, T]
  Tensor offsets{};     // i32 [N + 1] where B is 1 and sequence n is [offsets[n], offsets[n + 1]); empty: rows
};

class SequenceModel : public NextToken {
 public:
  // Whether it reads a source, which it translates; otherwise it continues text.
  virtual bool has_source() const = 0;
  // What the output projection reads, [B, T, width]. Throws heed::Error where the batch has what the model does not
  // read: a source, or offsets.
  virtual Var features(const Context& context, const SequenceBatch& batch) const = 0;
  // The output projection's weight, [vocabulary(), width]; empty: it has none, and so predicts nothing.
  virtual const Var& output_weight() const = 0;
  // Its bias, [vocabulary()]; empty: it has none.
  virtual Var output_bias() const { return {}; }
  // What bounds the logits: x becomes cap * tanh(x / cap); 0: nothing.
  virtual double logit_soft_cap() const { return 0; }

  // features, [..., width], as logits, [..., vocabulary()]. Throws heed::Error, as what calls it, for a model without
  // an output projection.
  Var project(const Context& context, const Var& features) const;
  // The logits of each next token, [B, T, vocabulary()].
  Var logits(const Context& context, const SequenceBatch& batch) const;
  // The label-smoothed cross-entropy, without ever storing the logits; with a tape, tape->backward() then gives the
  // gradients of gradient_scale * loss_sum. Throws heed::Error where logits are bounded.
  LossResult loss(const Context& context, const SequenceBatch& batch, const CrossEntropyOptions& options) const;
};

}  // namespace heed
