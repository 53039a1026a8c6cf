// What every translation model can do: give its loss for training, and decode one position at a time.
#pragma once

#include "heed/autograd/context.h"
#include "heed/models/next_token.h"
#include "heed/ops/loss.h"
#include "heed/tensor/tensor.h"

namespace heed {

// What a training step sees: the decoder reads input (the target behind a begin token) and is to predict output (the
// target before an end token), both i32 [B, T], padded.
struct TranslationBatch {
  TokenBatch source;
  Tensor input;
  Tensor output;
};

// As NextToken: sources are admitted, and targets behind a begin token are read. max_length is that of both.
class TranslationModel : public NextToken {
 public:
  // The label-smoothed cross-entropy; with a tape, tape->backward() then gives the gradients of gradient_scale *
  // loss_sum.
  virtual LossResult loss(const Context& context, const TranslationBatch& batch,
                          const CrossEntropyOptions& options) const = 0;
  Index max_steps(Index) const override { return max_length(); }
};

}  // namespace heed
