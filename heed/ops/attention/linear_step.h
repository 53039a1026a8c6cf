// Decoding with linear attention: the keys and values of all tokens so far are one state of fixed size, so that a token
// costs the same after a thousand others as after one. What attention() computes at once under a causal mask with
// Score::features and Normaliser::sum, this computes as the tokens come.
//
//   LinearState state = LinearState::zeros(batch, key_heads, features, value_width);
//   linear_step(q, k, v, Score::features({}), state, o);       // the prompt, [B, H, L, D]
//   linear_step(q1, k1, v1, Score::features({}), state, o1);   // the next token, [B, H, 1, D]
#pragma once

#include "heed/ops/attention/spec/spec.h"
#include "heed/tensor/tensor.h"

namespace heed {

// What the tokens so far have left. For beams: gather_rows() of both.
struct LinearState {
  Tensor values;  // S = sum_j phi(k_j) v_j^T, [B, Hk, M, Dv], f32 (f64 where q is f64)
  Tensor sums;    // z = sum_j phi(k_j), [B, Hk, M], of the same type

  // No tokens. M is D, or the random features' number.
  static LinearState zeros(Index batch, Index key_heads, Index features, Index value_width, DType dtype = DType::f32);
};

// For each of the L tokens in order (Katharopoulos et al. 2020, eqs. 16 to 20):
//   S += phi(k_t) v_t^T      z += phi(k_t)      out_t = phi(q_t)^T S / phi(q_t)^T z
// q [B, H, L, D], k [B, Hk, L, D] and v [B, Hk, L, Dv] are as attention() takes them; out [B, H, L, Dv], of the type of
// q, is overwritten, and may be empty where the tokens are only to be remembered. The state is updated in place. A sum
// of zero gives out zero; a NaN stays in the state. O(M Dv) for each token and head. A sequence's bits depend neither
// on the batch and the thread count nor on how it is cut into calls. They are not attention()'s, which cuts its sums
// into chunks. Throws heed::Error naming the rule and the shapes.
void linear_step(ConstView q, ConstView k, ConstView v, const Score& score, const LinearState& state, View out);

}  // namespace heed
