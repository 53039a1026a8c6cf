// What rows have added up in one sweep over some of their keys, for another sweep over the next ones. Their outputs,
// which are still to be multiplied by a number of the row's, lie where the result's are to be.
#pragma once

#include "heed/base/workspace.h"
#include "heed/ops/attention/plans/lane_products.h"
#include "heed/ops/attention/problem/attention_problem.h"
#include "heed/ops/attention/spec/results.h"

namespace heed {

struct LaneCarry {
  View top{}, sum{};  // f32 [B, H, Lq]; empty: the sweep is the only one
  bool first = true, last = true;
  bool apart = false;  // whether each key is in a block of its own

  bool active() const { return bool{top}; }
};

// Sweeps over the keys of a problem by the calling thread alone, in some memory.
Index fused_sweep_bytes(const AttentionProblem& c);
void fused_sweep(const AttentionProblem& c, const AttentionResult& result, const LaneCarry& carry, char* memory);
// The same by all threads.
void fused_sweep(const AttentionProblem& c, LaneNumbers numbers, const AttentionResult& result, const LaneCarry& carry,
                 Workspace& workspace);

}  // namespace heed
