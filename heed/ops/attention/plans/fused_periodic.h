// Masks that repeat, in the order of sums of the plan "fused": a row meets its far keys before, then the near ones,
// then its far keys behind. Each sweep goes on from what the one before it has added up.
#pragma once

#include "heed/ops/attention/plans/plan.h"

namespace heed {

// Both are for problems that PeriodicParts::fit.
void periodic_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace);
// Of a dot product; `grad` has dq, dk and dv alone.
void periodic_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                       Workspace& workspace);

}  // namespace heed
