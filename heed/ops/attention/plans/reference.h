// The definition of attention: plain loops, sums in double, every feature.
#pragma once

#include <span>

#include "heed/ops/attention/plans/plan.h"

namespace heed {

extern const AttentionPlan kReferencePlan;

// The same loops with sums in f32, and scores, weights and their gradients rounded to the type of q between the steps,
// as a program does that keeps them in memory: not in attention_plans(), but the yardstick for the error of those that
// are.
extern const AttentionPlan kPlainPlan;

// Some rows of the forward pass. The fast plans send rows that came out as NaN here: a weight of zero times a NaN or an
// infinity behind the mask must not count, and only this loop never touches what the mask refuses.
void reference_forward_rows(const AttentionProblem& problem, const AttentionResult& result, Index b, Index h,
                            std::span<const Index> rows);

// The gradients that flow through key/value head g of batch element b: dq of its query heads, dk and dv of itself, and
// their parts of the parameters' gradients.
void reference_backward_group(const AttentionProblem& problem, const AttentionSaved& saved, const AttentionGrad& grad,
                              Index b, Index g);

// The weights pass. A plan whose states hold no weights may have it for its own: they are Lq Lk numbers, whose work no
// algorithm saves.
void reference_weights(const AttentionProblem& problem, const ConstView& row_stat, const AttentionSelection& chosen,
                       const View& weights, Workspace& workspace);

}  // namespace heed
