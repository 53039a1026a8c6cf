// What the attention operator computes on its way, kept.
//
//   const AttentionStages stages = compute_attention_stages(q, k, v, {.mask = Mask::causal()});
//   stages.weights.at<double>({0, 0, i, j});
#pragma once

#include "heed/ops/attention/attention.h"
#include "heed/tensor/tensor.h"

namespace heed {

// All f64. [B, H, Lq, Lk] but for row_stat [B, H, Lq] and out [B, H, Lq, Dv].
struct AttentionStages {
  Tensor scores;    // q . k, or v_a . tanh(q + k): the operator's scores at scale 1
  Tensor scaled;    // the operator's scores
  Tensor masked;    // the same, -inf where the mask refuses the key
  Tensor row_stat;  // the log of the sum of exp(masked) over a row
  Tensor weights;
  Tensor out;
};

// Runs attention on f64 q [B, H, Lq, D], k [B, Hk, Lk, D], v [B, Hk, Lk, Dv] with every result asked for, and once more
// with scale 1 for `scores`, which the operator does not give otherwise. spec must have no bias, cap or dropout. Throws
// heed::Error as attention() does.
AttentionStages compute_attention_stages(const ConstView& q, const ConstView& k, const ConstView& v,
                                         const AttentionSpec& spec);

}  // namespace heed
