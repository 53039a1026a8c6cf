// The loss at the root of a training step.
#pragma once

#include "heed/autograd/context.h"
#include "heed/autograd/var.h"
#include "heed/ops/loss.h"

namespace heed {

// Computes the label-smoothed cross-entropy of logits x W^T + b against target ids (heed/ops/loss.h), x [..., D]. With
// a tape it is the root: the gradient of options.gradient_scale * loss_sum is computed in the same pass, added to
// weight's and bias's at once, and given to x when the tape runs.
LossResult linear_cross_entropy(const Context& context, const Var& x, const Var& weight, const Var& bias,
                                const Tensor& targets, const CrossEntropyOptions& options);

}  // namespace heed
