// Attention of short sentences, which one tile of queries and one block of keys hold: nothing is rescaled, the output
// and all gradients are made as rows, where they are stored, and what the next head reads is asked for meanwhile. Each
// row has the bits that the plan "fused" gives it, which does what is longer.
#pragma once

#include "heed/ops/attention/plans/plan.h"

namespace heed {

void short_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace);
void short_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                    Workspace& workspace);

// Whether one tile and one block hold a head.
bool is_short(const AttentionProblem& c);
// Key/value heads that are worth handing to a thread.
Index short_grain(const AttentionProblem& c);

extern const AttentionPlan kShortPlan;

}  // namespace heed
