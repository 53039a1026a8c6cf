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
#include "heed/ops/attention/spec.h"
#include "heed/tensor/view.h"

namespace heed {

// What a forward call fills; an empty view is not wanted.
struct AttentionResult {
  View out{};       // [B, H, Lq, Dv]
  View row_stat{};  // [B, H, Lq], f32 (f64 where q is f64): log-sum-exp of the row; -inf for a row with no allowed key
  View weights{};   // [B, H, Lq, Lk], the type of q: before dropout
  View scores{};    // [B, H, Lq, Lk], the type of q: after scale and cap, before bias and mask
};

// What a backward call fills; an empty view is not wanted. dq, dk, dv are overwritten; dbias and dadditive_vector
// accumulate.
struct AttentionGrad {
  View dq{}, dk{}, dv{};    // the shapes of q, k, v
  View dbias{};             // the shape of bias.dense
  View dadditive_vector{};  // [D]
};

// Computes attention of q [B, H, Lq, D] over k [B, Hk, Lk, D] and v [B, Hk, Lk, Dv]; H % Hk == 0, and head h reads
// key/value head h / (H / Hk). f32, or f64 (plain loops, for gradient checks); any strides with a unit last one. v may
// be empty where out is not wanted. In order: score x scale, soft-cap, + bias, mask, normalise, dropout, times V.
//   A row with no allowed key: out 0, weights 0, row_stat -inf. A key whose score with its bias is -inf is as if
//   refused by the mask. A NaN propagates; what is behind the mask does not count, be it NaN or infinite. A row's bits
//   do not depend on the batch around it, on keys behind the mask, on rows after it, or on the thread count.
// Throws heed::Error naming the rule and the shapes. HEED_PLAN forces an algorithm: see plan.h.
void attention(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, const AttentionResult& result,
               Workspace& workspace);

// Computes the gradients from out and row_stat as attention() filled them, and dout [B, H, Lq, Dv]. A row or key that
// the mask leaves alone gets zero. dk and dv sum over the query heads that read them, in a fixed order.
void attention_backward(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, ConstView out,
                        ConstView row_stat, ConstView dout, const AttentionGrad& grad, Workspace& workspace);

// Computes the weights (before dropout) again from row_stat, into weights [B, H, Lq, Lk].
void attention_weights(ConstView q, ConstView k, const AttentionSpec& spec, ConstView row_stat, View weights,
                       Workspace& workspace);

// Names the plan that the call would use, and why each plan before it refused.
std::string explain(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec);

}  // namespace heed
