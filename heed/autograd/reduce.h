// Sums and means on the tape, over an axis or over the positions of a sequence.
//
//   const Var sentence = mean_pool(context, encoded, padding);   // [B, L, D] to [B, D]
//   const Var scores = linear(context, sentence, weight, bias);
#pragma once

#include "heed/autograd/context.h"
#include "heed/autograd/var.h"

namespace heed {

// The sum of x over an axis, which the result lacks. Sums are in double. Throws heed::Error for an axis outside [0,
// rank).
Var sum(const Context& context, const Var& x, int axis);
// The mean over an axis; NaN where it has no elements.
Var mean(const Context& context, const Var& x, int axis);
// The mean of all elements, of rank 0: a loss, say.
Var mean(const Context& context, const Var& x);

// x [B, L, D] to [B, D]: the mean or the greatest of each sequence's positions but those where padding, boolean [B, L],
// is true (a key_padding_mask, PyTorch's and AttentionArguments'); empty: none is. See heed/ops/pooling.h.
Var mean_pool(const Context& context, const Var& x, const Tensor& padding);
Var max_pool(const Context& context, const Var& x, const Tensor& padding);

}  // namespace heed
