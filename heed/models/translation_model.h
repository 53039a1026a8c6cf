// What every translation model can do: give its loss for training, and decode one position at a time.
#pragma once

#include <memory>
#include <span>

#include "heed/autograd/context.h"
#include "heed/ops/loss.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Sentences as ids i32 [B, L], padded, and their lengths i32 [B].
struct TokenBatch {
  Tensor ids;
  Tensor lengths;
};

// What a training step sees: the decoder reads input (the target behind a begin token) and is to predict output (the
// target before an end token), both i32 [B, T], padded.
struct TranslationBatch {
  TokenBatch source;
  Tensor input;
  Tensor output;
};

// Where the decoding of a batch of sentences stands. Rows are sentences, or the beams of sentences.
class DecoderState {
 public:
  virtual ~DecoderState() = default;
  // Keeps, in this order, the given rows; one may come several times.
  virtual void select_rows(std::span<const Index> rows) = 0;
};

class TranslationModel {
 public:
  virtual ~TranslationModel() = default;

  // The label-smoothed cross-entropy; with a tape, tape->backward() then gives the gradients of gradient_scale *
  // loss_sum.
  virtual LossResult loss(const Context& context, const TranslationBatch& batch,
                          const CrossEntropyOptions& options) const = 0;
  // Encodes the source. Inference only (no tape).
  virtual std::unique_ptr<DecoderState> start(const Context& context, const TokenBatch& source) const = 0;
  // Feeds one token to each row and returns the logits of the next, [rows, target vocabulary].
  virtual Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const = 0;
  // The most tokens that a source, or a target with its begin token, may have.
  virtual Index max_length() const = 0;
};

}  // namespace heed
