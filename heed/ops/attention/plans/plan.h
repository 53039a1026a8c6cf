// The algorithms, in the order in which they are asked. The last one, reference, can do everything and is the
// definition.
//
//   const AttentionTask task{.pass = AttentionTask::Pass::forward, .weights = true};
//   choose_attention_plan(problem, task).forward(problem, result, workspace);
//
// The environment variable HEED_PLAN=name forces a plan; a call that it cannot compute throws heed::Error with the
// reason.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/base/workspace.h"
#include "heed/ops/attention/problem/attention_problem.h"
#include "heed/ops/attention/spec/results.h"

namespace heed {

// What is asked of a plan.
struct AttentionTask {
  enum class Pass { forward, backward, weights };
  Pass pass = Pass::forward;
  bool weights = false, scores = false;  // forward: whether these matrices [B, H, Lq, Lk] are wanted
};

// In which order, and in which precision, a row's sums run: what its bits depend on.
enum class SumOrder {
  blocks,  // f32, in chains over blocks of keys, as numbers beside the largest score so far: fused.h
  bf16,    // the same in the order of a unit that multiplies bf16: bf16_products.h
  whole,   // the same, but that products of a block are sums of whole numbers, without an order: byte_row_products.h
  tiles,   // f32, in chains over blocks of keys, of weights that sum to one: tile.h
  states,  // f32, chunks of keys as one state: linear_chunk.h
  plain,   // f32, key after key: kPlainPlan
  rows,    // f64, key after key: the definition
};

struct AttentionPlan {
  std::string_view name;
  // Plans of one order give the same bits, so that which of them runs may depend on lengths.
  SumOrder order;
  // Why this plan cannot do the task, in a literal; empty where it can. The answer depends on the types and on what is
  // asked, never on the batch or on the lengths: padding cannot move a row to another order, and so cannot change its
  // bits.
  std::string_view (*why_not)(const AttentionProblem& problem, const AttentionTask& task);
  // How long the task takes beside the other plans of this order; may look at lengths.
  double (*cost)(const AttentionProblem& problem);
  void (*forward)(const AttentionProblem& problem, const AttentionResult& result, Workspace& workspace);
  // Null where the plan has no such pass.
  void (*backward)(const AttentionProblem& problem, const AttentionSaved& saved, const AttentionGrad& grad,
                   Workspace& workspace);
  // The weights of chosen heads and rows from row_stat.
  void (*weights)(const AttentionProblem& problem, const ConstView& row_stat, const AttentionSelection& chosen,
                  const View& weights, Workspace& workspace);

  // why_not(), or that the plan has no such pass.
  std::string_view refusal(const AttentionProblem& problem, const AttentionTask& task = {}) const;
};

// Multiply-adds that are worth handing to a thread, and those of a step of decoding.
inline constexpr Index kChunkWork = 1 << 20, kDecodingChunkWork = 1 << 14;

// Multiply-adds of every query with every key and value: the cost of a plan that meets each pair once.
double pair_cost(const AttentionProblem& problem);

std::span<const AttentionPlan> attention_plans();

// Throws heed::Error where HEED_PLAN names no plan: for calls that may come to choose none.
void check_forced_plan();

// The rule: the first plan of a list that can do the task fixes the order, and the cheapest one of that order that can
// is chosen. Null where none can.
const AttentionPlan* choose_plan_of(std::span<const AttentionPlan> plans, const AttentionProblem& problem,
                                    const AttentionTask& task);

// The rule over attention_plans(), or the plan that HEED_PLAN names. Throws heed::Error as above.
const AttentionPlan& choose_attention_plan(const AttentionProblem& problem, const AttentionTask& task = {});

// The plan of the forward pass, `what` it computes, and why each other one does not.
std::string explain_plans(const AttentionProblem& problem, std::string_view what);

}  // namespace heed
