// Softmax, log-softmax and cross-entropy of one f32 row.
//
// Every sum over a row has 16 partial sums, element j in partial j % 16, added up in one fixed order: the width of the
// vectors does not change a bit, nor do columns of -infinity (whose exponential is 0) appended to the row.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// y = exp(x - max x) / sum exp(x - max x). y may be x.
void softmax_row(const float* x, float* y, Index n);
// dx = y * (dy - sum(y * dy)). dx may be dy.
void softmax_backward_row(const float* y, const float* dy, float* dx, Index n);

// y = x - max x - log(sum exp(x - max x)). y may be x.
void log_softmax_row(const float* x, float* y, Index n);
// dx = dy - exp(y) * sum(dy). dx may be dy.
void log_softmax_backward_row(const float* y, const float* dy, float* dx, Index n);

struct RowLoss {
  double nll;       // -log p[target]
  double mean_nll;  // the mean over v of -log p[v]
  bool correct;     // target is the first of the largest logits
};

// p = softmax(logits[0 .. n)). With `gradient`, each logit is then overwritten with
// scale * (p[v] - (1 - smoothing) [v == target] - smoothing / n); without, logits is left as scratch. 0 <= target < n.
RowLoss cross_entropy_row(float* logits, Index n, Index target, double smoothing, double scale, bool gradient);

// sums[j] += x[0, j] + x[1, j] + ..., in this order, for rows that lie `stride` apart.
void add_column_sums(const float* x, Index rows, Index stride, Index n, float* sums);

}  // namespace heed::kernels
