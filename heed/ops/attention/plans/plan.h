// The algorithms, in the order in which they are asked. The last one, reference, refuses nothing and is the definition.
//
//   for (const AttentionPlan& plan : attention_plans()) std::puts(plan.name.data());
//
// The environment variable HEED_PLAN=name forces a plan; a call that it refuses throws heed::Error with the reason.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/base/workspace.h"
#include "heed/ops/attention/problem/attention_problem.h"
#include "heed/ops/attention/spec/results.h"

namespace heed {

struct AttentionPlan {
  std::string_view name;
  // Why this plan cannot compute the case; empty where it can. The answer depends on the types and on what is asked,
  // never on the batch or on the lengths: padding cannot move a row to another plan, and so cannot change its bits.
  std::string (*refuse)(const AttentionProblem& problem);
  void (*forward)(const AttentionProblem& problem, const AttentionResult& result, Workspace& workspace);
  void (*backward)(const AttentionProblem& problem, const AttentionSaved& saved, const AttentionGrad& grad,
                   Workspace& workspace);
};

std::span<const AttentionPlan> attention_plans();

// Throws heed::Error where HEED_PLAN names no plan: for calls that may come to choose none.
void check_forced_plan();

// The first plan that does not refuse, or the one that HEED_PLAN names. Throws heed::Error as above.
const AttentionPlan& choose_attention_plan(const AttentionProblem& problem);

// That plan, `what` it computes, and why each other one does not.
std::string explain_plans(const AttentionProblem& problem, std::string_view what);

}  // namespace heed
