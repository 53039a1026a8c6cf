#include "heed/ops/attention/plans/plan.h"

#include <cstdlib>

#include "heed/base/check.h"
#include "heed/ops/attention/plans/linear_chunk.h"
#include "heed/ops/attention/plans/reference.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

const AttentionPlan* forced_plan() {
  const char* name = std::getenv("HEED_PLAN");
  if (name == nullptr || *name == '\0') return nullptr;
  std::string known;
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.name == name) return &plan;
    known += known.empty() ? "" : ", ";
    known += plan.name;
  }
  fail("attention: HEED_PLAN is '{}', but the plans are {}", name, known);
}

}  // namespace

std::span<const AttentionPlan> attention_plans() {
  static const AttentionPlan kPlans[] = {kTiledPlan, kLinearPlan, kReferencePlan};
  return kPlans;
}

void check_forced_plan() { forced_plan(); }

const AttentionPlan& choose_attention_plan(const AttentionProblem& problem) {
  if (const AttentionPlan* forced = forced_plan()) {
    const std::string reason = forced->refuse(problem);
    HEED_CHECK(reason.empty(), "attention: HEED_PLAN={} cannot compute this call: {}", forced->name, reason);
    return *forced;
  }
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.refuse(problem).empty()) return plan;
  }
  fail("attention: no plan computes this call");
}

std::string explain_plans(const AttentionProblem& problem, std::string_view what) {
  const AttentionPlan& chosen = choose_attention_plan(problem);
  std::string text = fmt::format("{} computes {}", chosen.name, what);
  bool passed = false;
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.name == chosen.name) {
      passed = true;
      continue;
    }
    const std::string reason = plan.refuse(problem);
    text += fmt::format("; {} {}", plan.name,
                        !reason.empty() ? "refused: " + reason
                        : passed        ? "could too, but comes later"
                                        : "was passed over by HEED_PLAN");
  }
  return text;
}

}  // namespace heed
