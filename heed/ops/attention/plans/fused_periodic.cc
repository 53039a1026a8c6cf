#include "heed/ops/attention/plans/fused_periodic.h"

#include <algorithm>
#include <limits>

#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/lane_carry.h"
#include "heed/ops/attention/plans/periodic_parts.h"
#include "heed/ops/attention/plans/repair.h"

namespace heed {
namespace {

using kernels::kLaneKeys;

class PeriodicSweeps {
 public:
  PeriodicSweeps(const PeriodicParts& parts, const AttentionResult& wanted, const View& top, const View& sum)
      : parts_(parts), result(wanted), top_(top), sum_(sum) {}

  // What the far keys before, or behind, the queries add.
  void add_far(bool behind, Workspace& workspace) const {
    const std::vector<PeriodicPart> far = parts_.far(behind);
    const auto all = [&](const PeriodicPart& part) {
      fused_sweep(part.problem, LaneNumbers::f32, rows_of_result(part), far_carry(part, behind), workspace);
    };
    const auto one = [&](const PeriodicPart& part, Index b, Index g, char* memory) {
      fused_sweep(part.problem, b, g, rows_of_result(part), far_carry(part, behind), memory);
    };
    sweep_parts(far, fused_sweep_bytes(far[0].problem), workspace, all, one);
  }

  void add_near(Workspace& workspace) const {
    const LaneCarry carry{.top = top_, .sum = sum_, .first = false, .last = !parts_.has_keys_behind()};
    fused_sweep(parts_.near(), LaneNumbers::f32, result, carry, workspace);
  }

 private:
  LaneCarry far_carry(const PeriodicPart& part, bool behind) const {
    return {.top = part.rows_of(top_), .sum = part.rows_of(sum_), .first = !behind, .last = behind, .apart = true};
  }

  AttentionResult rows_of_result(const PeriodicPart& part) const {
    return {.out = part.rows_of(result.out), .row_stat = part.rows_of(result.row_stat)};
  }

  const PeriodicParts& parts_;
  const AttentionResult& result;
  View top_, sum_;
};

}  // namespace

void periodic_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const Index rows = c.batch * c.heads * c.queries;
  const auto state = [&](float from) {
    const View view = make_view(workspace.take<float>(rows), {c.batch, c.heads, c.queries});
    fill(view, from);
    return view;
  };
  const View top = state(-std::numeric_limits<float>::infinity()), sum = state(0);
  if (result.out) fill(result.out, 0);
  const PeriodicParts parts(c);
  const PeriodicSweeps sweeps(parts, result, top, sum);
  sweeps.add_far(false, workspace);
  sweeps.add_near(workspace);
  if (parts.has_keys_behind()) sweeps.add_far(true, workspace);
  if (!result.out) return;
  const Index tiles = ceil_div(c.queries, kLaneKeys);
  parallel_for(c.batch * c.heads * tiles, 16, [&](Index begin, Index end) {
    for (Index unit = begin; unit < end; ++unit) {
      const Index first = unit % tiles * kLaneKeys, head = unit / tiles;
      repair_rows(c, result.out, {head / c.heads, head % c.heads, {first, std::min(c.queries, first + kLaneKeys)}});
    }
  });
}

}  // namespace heed
