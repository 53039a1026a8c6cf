// Attention in one sweep over the keys, f32: a tile of queries, one to each SIMD lane, against a block of keys after
// another, whose scores never leave the first caches. The score is a product of rows, the normaliser one that needs no
// second look at them.
#pragma once

#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/plans/lane_carry.h"
#include "heed/ops/attention/plans/lane_products.h"
#include "heed/ops/attention/plans/plan.h"

namespace heed {

// A row's sums run over the keys in ascending order, a chain for each block of kernels::kLaneKeys, and those of dk and
// dv over the queries, a chain for each 64: no bit depends on which tile a row is in. Refused keys add exact zeros. A
// thread takes some 64 x (2 D + 2 Dv + 256) floats beside its inputs and outputs, whatever the lengths; 16-bit k and v
// add f32 sums of dk and dv in the backward pass, 2 MiB at most (Lk rows where a parameter of the score has a
// gradient), 2 MiB at most of scores that are looked at twice, and a float for each row of the queries.
void fused_forward(const AttentionProblem& c, LaneNumbers numbers, const AttentionResult& result, Workspace& workspace);
void fused_backward(const AttentionProblem& c, LaneNumbers numbers, const AttentionSaved& saved,
                    const AttentionGrad& grad, Workspace& workspace);
// Sweeps over the keys, which may go on from others (lane_carry.h): of one key/value head, by the calling thread alone,
// in some memory.
Index fused_sweep_bytes(const AttentionProblem& c);
void fused_sweep(const AttentionProblem& c, Index b, Index g, const AttentionResult& result, const LaneCarry& carry,
                 char* memory);
// The same of all heads by all threads.
void fused_sweep(const AttentionProblem& c, LaneNumbers numbers, const AttentionResult& result, const LaneCarry& carry,
                 Workspace& workspace);

// The same of the backward pass; a carried sweep leaves what is spoilt by infinities to its caller.
Index fused_backward_sweep_bytes(const AttentionProblem& c);
void fused_backward_sweep(const AttentionProblem& c, Index b, Index g, const AttentionSaved& saved,
                          const AttentionGrad& grad, const GradientCarry& carry, char* memory);
void fused_backward_sweep(const AttentionProblem& c, LaneNumbers numbers, const AttentionSaved& saved,
                          const AttentionGrad& grad, const GradientCarry& carry, Workspace& workspace);

void fused_weights(const AttentionProblem& c, LaneNumbers numbers, const ConstView& row_stat,
                   const AttentionSelection& chosen, const View& weights, Workspace& workspace);

// Null where there is none.
const kernels::LaneNormaliser* lane_normaliser(Normaliser::Kind kind);

extern const AttentionPlan kFusedPlan;
// All of bf16, by a unit that multiplies it.
extern const AttentionPlan kFusedBf16Plan;
extern const AttentionPlan kDecodeBf16Plan;  // for few queries
extern const AttentionPlan kDecodeInt8Plan;  // for any, of keys and values of int8
// The same sums for few queries.
extern const AttentionPlan kDecodePlan;

}  // namespace heed
