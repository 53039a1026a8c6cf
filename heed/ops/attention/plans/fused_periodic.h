// Patterns that repeat (Child et al. 2019), in the order of sums of the plan "fused". The far keys of a query are those
// of every query a period away, and so a dense matrix of a row in each period by a key in each period; those near it
// are an interval. A row meets its far keys before, then the near ones, then its far keys behind: each sweep goes on
// from what the one before it has added up.
#pragma once

#include "heed/ops/attention/plans/plan.h"

namespace heed {

// Whether the forward pass is such a case: a periodic mask, f32, and nothing else that is asked of pairs.
bool is_periodic(const AttentionProblem& c, const AttentionResult& result);

void periodic_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace);

}  // namespace heed
