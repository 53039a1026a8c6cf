#include "heed/ops/attention/plans/plan.h"

#include <cstdlib>

#include "heed/base/check.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/linear_chunk.h"
#include "heed/ops/attention/plans/reference.h"
#include "heed/ops/attention/plans/short.h"
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
  static const AttentionPlan kPlans[] = {kFusedBf16Plan, kDecodeBf16Plan, kDecodeInt8Plan, kFusedPlan,    kShortPlan,
                                         kDecodePlan,    kTiledPlan,      kLinearPlan,     kReferencePlan};
  return kPlans;
}

void check_forced_plan() { forced_plan(); }

std::string_view AttentionPlan::refusal(const AttentionProblem& problem, const AttentionTask& task) const {
  if (task.pass == AttentionTask::Pass::backward && backward == nullptr) return "it has no backward pass";
  if (task.pass == AttentionTask::Pass::weights && weights == nullptr) return "it has no pass for the weights alone";
  return why_not(problem, task);
}

double pair_cost(const AttentionProblem& c) {
  const double pairs = static_cast<double>(c.batch * c.heads) * static_cast<double>(c.queries * c.keys);
  return pairs * static_cast<double>(c.width + c.value_width);
}

const AttentionPlan* choose_plan_of(std::span<const AttentionPlan> plans, const AttentionProblem& problem,
                                    const AttentionTask& task) {
  const AttentionPlan* chosen = nullptr;
  double least = 0;
  for (const AttentionPlan& plan : plans) {
    if ((chosen != nullptr && plan.order != chosen->order) || !plan.refusal(problem, task).empty()) continue;
    const double cost = plan.cost(problem);
    if (chosen == nullptr || cost < least) chosen = &plan, least = cost;
  }
  return chosen;
}

const AttentionPlan& choose_attention_plan(const AttentionProblem& problem, const AttentionTask& task) {
  if (const AttentionPlan* forced = forced_plan()) {
    const std::string_view reason = forced->refusal(problem, task);
    HEED_CHECK(reason.empty(), "attention: HEED_PLAN={} cannot compute this call: {}", forced->name, reason);
    return *forced;
  }
  const AttentionPlan* chosen = choose_plan_of(attention_plans(), problem, task);
  HEED_CHECK(chosen != nullptr, "attention: no plan computes this call");
  return *chosen;
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
    const std::string_view reason = plan.refusal(problem);
    if (!reason.empty()) {
      text += fmt::format("; {} refused: {}", plan.name, reason);
    } else {
      text += fmt::format("; {} {}", plan.name,
                          plan.order == chosen.order ? "could too, but costs more"
                          : passed                   ? "could too, but comes later"
                                                     : "was passed over by HEED_PLAN");
    }
  }
  return text;
}

}  // namespace heed
