// The losses of a classifier: negative log-likelihood and softmax cross-entropy, with class weights.
//
//   const ClassLossOptions options{.reduction = Reduction::sum, .ignore_index = -100};
//   cross_entropy(logits, targets, weight, options, loss, log_p);
//   cross_entropy_backward(log_p, targets, weight, options, dloss, dlogits);
//
// A model that predicts tokens uses linear_cross_entropy (ops/loss.h), which never stores the logits.
//
// Scores are [N, C], or [N, C, S] with S positions an example (the pixels of an image, in any number of axes); N, C, S
// and what has their shapes are contiguous, f32 or f64. Targets are i32 [N] or [N, S], each in [0, C) or equal to
// ignore_index; class weights are [C], or empty for ones. All functions throw heed::Error for other operands, before
// anything is written. Results are overwritten, and are the same bits for any thread count.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/tensor/view.h"

namespace heed {

enum class Reduction {
  none,  // a loss for every position
  sum,   // their sum
  mean,  // their sum divided by the sum of their weights; 0 where that is 0 (PyTorch gives NaN)
};

struct ClassLossOptions {
  Reduction reduction = Reduction::mean;
  std::optional<std::int32_t> ignore_index{};  // positions with this target have loss 0, weight 0 and gradient 0
};

// loss_r = -w[t] log_p[t] for each position r, with its target t; PyTorch's NLLLoss. `loss` is like the targets for
// Reduction::none, otherwise of rank 0. Sums are in double. A NaN in log_p[t] gives a NaN.
void nll_loss(ConstView log_p, ConstView targets, ConstView weight, const ClassLossOptions& options, View loss);

// dlog_p[c] = -w[t] dloss_r [c = t], with dloss / sum of weights for dloss_r where the loss is a mean. dloss is like
// loss, dlog_p like log_p.
void nll_loss_backward(ConstView targets, ConstView weight, const ClassLossOptions& options, ConstView dloss,
                       View dlog_p);

// nll_loss of the log-softmax over the classes; PyTorch's CrossEntropyLoss. log_p, like the logits, keeps that
// log-softmax for the gradient; empty: not wanted.
void cross_entropy(ConstView logits, ConstView targets, ConstView weight, const ClassLossOptions& options, View loss,
                   View log_p);

// dlogits[c] = w[t] dloss_r (p[c] - [c = t]) with p = exp(log_p) and dloss_r as above. dlogits may be log_p.
void cross_entropy_backward(ConstView log_p, ConstView targets, ConstView weight, const ClassLossOptions& options,
                            ConstView dloss, View dlogits);

}  // namespace heed
