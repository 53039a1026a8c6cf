// Attention: one equation, forward, backward, and the weights on request.
//
// For a batch element b and a head h, query i attends to the keys j that the mask allows:
//
//     w_ij = N over j of ( s(q_i, k_j) + b_ij )          o_i = sum_j dropout(w_ij) v_j
//
//   Workspace workspace;
//   attention(q, k, v, {.mask = Mask::causal()}, {.out = o}, workspace);
#pragma once

#include <string>

#include "heed/base/workspace.h"
#include "heed/ops/attention/spec/results.h"
#include "heed/ops/attention/spec/spec.h"
#include "heed/tensor/view.h"

namespace heed {

// Computes attention of q [B, H, Lq, D] over k [B, Hk, Lk, D] and v [B, Hk, Lk, Dv]; H % Hk == 0, and head h reads
// key/value head h / (H / Hk). q is f32, bf16, f16 or f64 (plain loops, for gradient checks), k and v are of its type,
// or of 16 bits beside q in f32, or i8 with a scale for each row (spec.scales) beside all but f64; sums are f32 or
// better. Any strides with a unit last one. v may be empty where out is
// not wanted. In order: score x scale, soft-cap, + bias, mask, normalise, dropout, times V.
//   A row with no allowed key: out 0, weights 0, row_stat -inf. A key whose score with its bias is -inf is as if
//   refused by the mask. A NaN propagates; what is behind the mask does not count, be it NaN or infinite. A row's bits
//   do not depend on the batch around it, on keys behind the mask, on rows after it, or on the thread count. (A row or
//   head that a NaN or infinity behind the mask would spoil is computed again in double, and may differ in its last
//   bits from what it is beside finite numbers.)
// Packed sequences (spec.sequences.query_offsets) give out and row_stat only.
// B, Lq and Lk may be 0, up to 2^30; the rest is at least 1. Throws heed::Error naming the rule and the shapes, before
// anything is written. HEED_PLAN forces an algorithm: see plan.h.
void attention(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, const AttentionResult& result,
               Workspace& workspace);

// Computes the gradients. A row or key that the mask leaves alone gets zero. dk and dv sum over the query heads that
// read them, in a fixed order.
void attention_backward(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, const AttentionSaved& saved,
                        const AttentionGrad& grad, Workspace& workspace);

// Computes the weights (before dropout) again from row_stat, into weights [B, chosen heads, chosen rows, Lk].
void attention_weights(ConstView q, ConstView k, const AttentionSpec& spec, ConstView row_stat, View weights,
                       Workspace& workspace, const AttentionSelection& chosen = {});

// Names the plan that the call would use, and why each other one refused.
std::string explain(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec);

}  // namespace heed
