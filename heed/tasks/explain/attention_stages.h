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
  Tensor scores;    // q . k, or v_a . tanh(q + k), ...: the operator's scores at scale 1
  Tensor scaled;    // the operator's scores
  Tensor capped;    // the same after the soft-cap
  Tensor bias;      // what is added to that; 0 where there is no bias
  Tensor masked;    // the same, -inf where the mask refuses the key
  Tensor row_stat;  // what the normaliser knows of a row: see AttentionResult
  Tensor weights;
  Tensor out;
};

// Runs attention on f64 q [B, H, Lq, D], k [B, Hk, Lk, D], v [B, Hk, Lk, Dv] with every result asked for, and again for
// stages that the operator does not give beside them. Random features keep their scale in `scores`, since it is inside
// phi. spec must have no dropout. Throws heed::Error as attention() does.
AttentionStages compute_attention_stages(const ConstView& q, const ConstView& k, const ConstView& v,
                                         const AttentionSpec& spec);

}  // namespace heed
