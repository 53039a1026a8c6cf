// Linear attention as a recurrence: what the keys have written is one matrix of fixed size, so that a token costs the
// same after a thousand others as after one. Four rules of writing, from what is given:
//
//   decay  beta   rule         S_t from S_(t-1)                                     known as
//   -      -      linear       S + k v^T                                            Katharopoulos et al. 2020
//   given  -      gated        diag(e^g) S + k v^T                                  RetNet 2023, GLA (Yang et al. 2023)
//   -      given  delta        S + beta k (v - S^T k)^T                             DeltaNet (Yang et al. 2024)
//   given  given  gated delta  S' + beta k (v - S'^T k)^T with S' = diag(e^g) S     Gated DeltaNet (Yang et al. 2025)
//
//   gated_delta_rule({.q = q, .k = k, .v = v, .decay = g, .beta = beta}, {.out = o, .state = state}, workspace);
//   // the next token: L = 1, from the state and to it
//   gated_delta_rule({.q = q1, .k = k1, .v = v1, .decay = g1, .beta = beta1, .state = state},
//                    {.out = o1, .state = state}, workspace);
#pragma once

#include <optional>

#include "heed/base/workspace.h"
#include "heed/tensor/view.h"

namespace heed {

// The operands. Floating types, those of q, k and v the same; the others may have types of their own (an f32 state
// under bf16 activations). Any strides, with a unit last one where marked *.
struct GatedDeltaRule {
  ConstView q{};                  // [B, H, L, Dk] *
  ConstView k{};                  // [B, Hk, L, Dk] *; H % Hk == 0, and head h reads state h / (H / Hk)
  ConstView v{};                  // [B, Hk, L, Dv] *
  ConstView decay{};              // g, the logarithm of what is kept: [B, Hk, L, Dk] *, or [B, Hk, L] for all of a head
  ConstView beta{};               // [B, Hk, L]: how far the value is moved towards the new one
  ConstView erase{};              // [B, Hk, L, Dk] *, with beta: e k stands for k in S'^T k (ONNX's erase_gate)
  ConstView state{};              // S before the first token, [B, Hk, Dk, Dv]; empty: zeros
  std::optional<double> scale{};  // of the output; 1 / sqrt(Dk) where it is not given
};

// What the forward call fills; an empty view is not wanted.
struct GatedDeltaResult {
  View out{};    // [B, H, L, Dv] *, the type of q
  View state{};  // S after the last token, [B, Hk, Dk, Dv], floating; may be the operand's memory
};

// What the backward call overwrites, in the shapes of the operands and floating types; an empty view is not wanted.
struct GatedDeltaGrad {
  View dq{}, dk{}, dv{}, ddecay{}, dbeta{}, derase{}, dstate{};
};

// For t = 0, 1, ... updates S by the rule, then reads o_t = scale S_t^T q_t: token t sees itself and what is before it.
// There is no normaliser, and no feature map: apply one to q and k first. The recurrence of ONNX LinearAttention-27.
// Computed in f32 (f64 for f64 q). O(Dk Dv) for each token and head, whatever L. A NaN stays in the state; a decay of
// -inf forgets. With L = 0 the state is copied. The bits of a sequence do not depend on the batch, on later tokens or
// on the thread count; cutting it in two calls changes none while the state between them is kept in f32 (f64 for f64).
// Throws heed::Error for operands that disagree, and for results that lie in anything that is read: but the last state
// may be the state, whole.
void gated_delta_rule(const GatedDeltaRule& x, const GatedDeltaResult& result, Workspace& workspace);

// The gradients from dout [B, H, L, Dv] and dstate_out [B, Hk, Dk, Dv], that of the last state (empty: zero). States
// are computed again from about sqrt(L) of them that are kept: twice the forward's work besides the gradient's own, and
// 2 sqrt(L) states of memory for each thread. dk, dv and the rest sum over the query heads in order.
void gated_delta_rule_backward(const GatedDeltaRule& x, ConstView dout, ConstView dstate_out,
                               const GatedDeltaGrad& grad, Workspace& workspace);

}  // namespace heed
