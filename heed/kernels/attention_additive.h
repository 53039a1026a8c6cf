// The additive score of Bahdanau et al. (2015), and its gradients: score[r, c] = sum_d vector_d tanh(q[r, d] + k[c,
// d]). Of exp(2q) and exp(2k), one exponential for each number of a row, tanh(q + k) is 1 - 2 s with s = 1 / (1 +
// exp(2q) exp(2k)): a multiply-add and a share of a division for each pair and column.
#pragma once

#include "heed/base/index.h"
#include "heed/kernels/attention_rows.h"

namespace heed::kernels {

// Rows of q or of k, and their powers.
struct AdditiveRows {
  const float* given;  // [rows, width]
  Index given_row;
  const float* powers;  // [rows, width], by additive_powers
  Index powers_row;
};

struct AdditiveTile {
  Index rows, keys, width, stride;  // stride: floats from row to row of the scores
  AdditiveRows q, k;
  const float* vector;  // [width]
};

// y = exp(2x), and NaN where |x| is above 43, whose power is no float, or as good as none. Unit stride along a row; y
// may be x.
void additive_powers(Index rows, Index width, const float* x, Index x_row, float* y, Index y_row);

// Floats that a pair of a query and a key takes where its shares s are kept: whole vectors of any target.
inline Index additive_kept_width(Index width) { return round_up(width, kAttentionLanes); }

// Fills scores[r * stride + c]. The order of a sum depends on the width alone. A pair whose powers give a NaN takes its
// tanhs from the rows that are given. kept, [rows, keys, kept width], takes every share for the gradients; null: not
// wanted. Error of a tanh: 5e-7, absolute.
void attention_additive_scores(const AdditiveTile& tile, float* scores, float* kept = nullptr);

// What is added to; a null pointer is not wanted.
struct AdditiveGradients {
  float* dq = nullptr;  // [rows, width]: sum over c of flow
  Index dq_row = 0;
  float* dk = nullptr;  // [keys, width]: sum over r of flow
  Index dk_row = 0;
  float* dvector = nullptr;  // [width]: sum over r and c of dscores tanh
};

// Adds the gradients, flow[r, c, d] = dscores[r, c] vector_d (1 - tanh^2), with what attention_additive_scores kept:
// 1 - tanh^2 is 4 (s - s^2). Of each four rows sums of dscores (s - s^2), key after key and row after row, which meet
// vector_d as they are added. A pair whose dscores is zero is left out, as if it were not there: what is behind a mask
// may be NaN.
void attention_additive_backward(const AdditiveTile& tile, const float* kept, const float* dscores,
                                 const AdditiveGradients& sums);

}  // namespace heed::kernels
