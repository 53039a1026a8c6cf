// The normalisers of attention over the rows of a score tile, forward and backward: a value for each.
//
//   kSoftmax.weights(rows, tile, stat);
//   kSoftmax.gradients(rows, stat, delta, tile, dweights, nullptr);
//
// The gradient of score j of a row is share_j (dweight_j - delta): `share` is what the normaliser makes of the weight
// w_j alone, delta what the keys of the row give back together.
#pragma once

#include "heed/kernels/attention_rows.h"

namespace heed::kernels {

// Sums over the keys of a row.
struct RowPool {
  double flow = 0;  // of share_j dweight_j
  double size = 0;  // of share_j
};

struct AttentionNormaliser {
  // Replaces products by weights (zero where a column is refused; before dropout). stat[r] becomes the number from
  // which the weights of row r can be computed again, -inf where nothing is allowed. A column whose score is -inf is as
  // if refused; a NaN or +inf makes the row's allowed weights and its stat NaN (sigmoid: a NaN its own weight).
  void (*weights)(const AttentionRows& rows, float* tile, float* stat);
  // Adds what the tile's columns give to pool[r], from products, stat and dweights[r, c] = dout . v_c. Null: a key's
  // gradient is its own affair, and delta is 0.
  void (*pool)(const AttentionRows& rows, const float* stat, const float* tile, const float* dweights, RowPool* pool);
  // delta of a row whose keys are all in the pool, and whose stat has the gradient dstat.
  float (*delta)(const RowPool& pool, float dstat);
  bool flows_as_output;  // whether flow is dout . out
  // From products, stat, dweights and delta:
  //   tile becomes the weights after dropout (0 or w * keep_scale),
  //   dweights becomes the gradient of the products, scale * cap' * share (kept dweights - delta),
  //   dbias becomes share (kept dweights - delta), in the layout of the tile, where it is not null.
  void (*gradients)(const AttentionRows& rows, const float* stat, const float* delta, float* tile, float* dweights,
                    float* dbias);
};

// exp(s - stat), where stat is the log-sum-exp of the row and its sink.
extern const AttentionNormaliser kSoftmax;
// 1 / (1 + exp(-s)); stat is 0.
extern const AttentionNormaliser kSigmoid;
// max(s - stat, 0), summing to one.
extern const AttentionNormaliser kSparsemax;
// max(s / 2 - stat, 0)^2, summing to one.
extern const AttentionNormaliser kEntmax15;

}  // namespace heed::kernels
