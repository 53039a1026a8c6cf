// The loss of a model that predicts tokens: the output projection, softmax and cross-entropy in one pass.
//
//   const CrossEntropyOptions options{.label_smoothing = 0.1, .gradient_scale = 1.0 / tokens};
//   LossResult r = linear_cross_entropy(x, weight, bias, targets, options, dx, dweight, dbias);
//   double perplexity = std::exp(r.nll_sum / r.tokens);
#pragma once

#include <cstdint>

#include "heed/base/index.h"
#include "heed/ops/weight.h"

namespace heed {

struct CrossEntropyOptions {
  double label_smoothing = 0;     // in [0, 1]
  std::int32_t ignore_index = 0;  // rows with this target count for nothing: padding
  double gradient_scale = 1;      // the gradients are those of gradient_scale * loss_sum
};

struct LossResult {
  double loss_sum = 0;  // with label smoothing; what the gradients are of
  double nll_sum = 0;   // without
  Index tokens = 0;     // rows that were not ignored
  Index correct = 0;    // of these, rows whose target has the largest logit (the first of equals)
};

// With logits l = x weight^T + bias and p = softmax(l), sums over the rows r whose target t is not ignored:
//   nll_sum  = sum_r -log p[r, t],     loss_sum = sum_r (1 - e) (-log p[r, t]) + e / V sum_v -log p[r, v],
// e being the label smoothing (Szegedy et al. 2016, "Rethinking the Inception architecture", section 7; as PyTorch's
// CrossEntropyLoss with reduction="sum"). The gradient of loss_sum by l[r, v] is p[r, v] - (1 - e) [v = t] - e / V.
//
// x [R, D], weight [V, D], bias [V] or empty, targets i32 [R]; all contiguous; x, weight and bias f32 or f64;
// the weight may be narrow, with f32 elsewhere, where no gradient is wanted.
// dx [R, D] is overwritten (0 in ignored rows); dweight [V, D] and dbias [V] are accumulated; an empty view is not
// wanted. Rows go in chunks, whose logits and their gradient are made, used and forgotten: [R, V] is never stored, and
// ignored rows cost nothing. A row's loss and dx depend on that row alone, and all results are the same bits for any
// thread count. Throws heed::Error where shapes or types disagree, for a target outside [0, V) and for a smoothing
// outside [0, 1].
LossResult linear_cross_entropy(ConstView x, const Weight& weight, ConstView bias, ConstView targets,
                                const CrossEntropyOptions& options, View dx = {}, View dweight = {}, View dbias = {});

}  // namespace heed
