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

// The same of gradients, which lie where the results' are to be.
struct GradientCarry {
  bool active = false;  // whether they hold what other sweeps have added up; else the sweep is the only one
  // How this one adds to them: apart where each key is in a block, or each row in a tile, of its own.
  AddedTo queries = AddedTo::sums, keys = AddedTo::sums;
};

// Sweeps over the keys of a key/value head by the calling thread alone, in some memory.
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

}  // namespace heed
