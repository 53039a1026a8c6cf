// The additive score of Bahdanau et al. (2015), and its gradients: score[r, c] = sum_d vector_d tanh(q[r, d] + k[c,
// d]).
#pragma once

#include "heed/base/index.h"
#include "heed/kernels/attention_rows.h"

namespace heed::kernels {

struct AdditiveTile {
  Index rows, keys, width, stride;  // stride: floats from row to row of the scores
  const float* q;                   // [rows, width]
  Index q_row;
  const float* k;  // [keys, width]
  Index k_row;
  const float* vector;  // [width]
};

// Floats that a pair of a query and a key takes where its tanhs are kept: whole vectors of any target.
inline Index additive_kept_width(Index width) { return round_up(width, kAttentionLanes); }

// Fills scores[r * stride + c]. The order of a sum depends on the width alone. kept, [rows, keys, kept width], takes
// every tanh for the gradients; null: not wanted.
void attention_additive_scores(const AdditiveTile& tile, float* scores, float* kept = nullptr);

// What is added to; a null pointer is not wanted.
struct AdditiveGradients {
  float* dq = nullptr;  // [rows, width]: sum over c of flow
  Index dq_row = 0;
  float* dk = nullptr;  // [keys, width]: sum over r of flow
  Index dk_row = 0;
  float* dvector = nullptr;  // [width]: sum over r and c of dscores tanh
};

// Adds the gradients, flow[r, c, d] = dscores[r, c] vector_d (1 - tanh^2), with what attention_additive_scores kept.
// Of each four rows sums of dscores (1 - tanh^2), key after key and row after row, which meet vector_d as they are
// added. A pair whose dscores is zero is left out, as if it were not there: what is behind a mask may be NaN.
void attention_additive_backward(const AdditiveTile& tile, const float* kept, const float* dscores,
                                 const AdditiveGradients& sums);

}  // namespace heed::kernels
