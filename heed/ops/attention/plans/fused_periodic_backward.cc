#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/fused_periodic.h"
#include "heed/ops/attention/plans/lane_carry.h"
#include "heed/ops/attention/plans/periodic_parts.h"
#include "heed/ops/attention/plans/repair.h"

namespace heed {
namespace {

// A row adds up what its keys give in their order, and a key what its rows give in theirs. So what passes between rows
// and the far keys before them comes first for those rows, and last for those keys: it takes two sweeps, each of which
// computes the weights for itself.
class PeriodicGradients {
 public:
  PeriodicGradients(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted)
      : parts_(problem), saved(given), grad(wanted) {}

  void add(Workspace& workspace) const {
    const AttentionGrad of_queries{.dq = grad.dq}, of_keys{.dk = grad.dk, .dv = grad.dv};
    const bool behind = parts_.has_keys_behind(), keys = grad.dk || grad.dv;
    if (grad.dq) add_far(false, of_queries, workspace);
    if (keys && behind) add_far(true, of_keys, workspace);
    fused_backward_sweep(parts_.near(), LaneNumbers::f32, saved, grad, {.active = true}, workspace);
    if (keys) add_far(false, of_keys, workspace);
    if (grad.dq && behind) add_far(true, of_queries, workspace);
  }

 private:
  void add_far(bool behind, const AttentionGrad& wanted, Workspace& workspace) const {
    const std::vector<PeriodicPart> far = parts_.far(behind);
    const AddedTo keys = parts_.far_rows_are_apart() ? AddedTo::sums_apart : AddedTo::sums;
    const GradientCarry carry{.active = true, .queries = AddedTo::sums_apart, .keys = keys};
    const auto all = [&](const PeriodicPart& part) {
      fused_backward_sweep(part.problem, LaneNumbers::f32, saved_of(part), grad_of(part, wanted), carry, workspace);
    };
    const auto one = [&](const PeriodicPart& part, Index b, Index g, char* memory) {
      fused_backward_sweep(part.problem, b, g, saved_of(part), grad_of(part, wanted), carry, memory);
    };
    sweep_parts(far, fused_backward_sweep_bytes(far[0].problem), workspace, all, one);
  }

  AttentionSaved saved_of(const PeriodicPart& part) const {
    return {part.rows_of(saved.out), part.rows_of(saved.row_stat), part.rows_of(saved.dout),
            part.rows_of(saved.drow_stat)};
  }
  static AttentionGrad grad_of(const PeriodicPart& part, const AttentionGrad& wanted) {
    return {.dq = part.rows_of(wanted.dq), .dk = part.keys_of(wanted.dk), .dv = part.keys_of(wanted.dv)};
  }

  const PeriodicParts parts_;
  const AttentionSaved& saved;
  const AttentionGrad& grad;
};

// Every `group`-th head of a view of query heads, from the nth on; an empty view has none.
template <typename AnyView>
AnyView member_heads(const AttentionProblem& c, const AnyView& view, Index nth) {
  return view ? slice(view, 1, nth, c.heads, c.group) : view;
}

// The problem of those heads: each has a key/value head of its own. (What the spec has for each head stays the whole's;
// masks that repeat have nothing of the kind, and sinks are in the statistic.)
AttentionProblem member_of_groups(const AttentionProblem& c, Index nth) {
  AttentionProblem member = c;
  member.q = member_heads(c, c.q, nth);
  member.heads = c.key_heads, member.group = 1;
  member.mask = MaskRows(c.spec.mask, {c.batch, member.heads, c.queries, c.keys});
  return member;
}

}  // namespace

void periodic_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                       Workspace& workspace) {
  for (const View& view : {grad.dq, grad.dk, grad.dv}) {
    if (view) fill(view, 0);
  }
  // A key adds up the rows of one head after those of another.
  for (Index nth = 0; nth < c.group; ++nth) {
    const auto of_member = [&](const auto& view) { return member_heads(c, view, nth); };
    const AttentionProblem member = member_of_groups(c, nth);
    const AttentionSaved given{of_member(saved.out), of_member(saved.row_stat), of_member(saved.dout),
                               of_member(saved.drow_stat)};
    const AttentionGrad wanted{.dq = of_member(grad.dq), .dk = grad.dk, .dv = grad.dv};
    PeriodicGradients(member, given, wanted).add(workspace);
  }
  parallel_for(c.batch * c.key_heads, 1, [&](Index begin, Index end) {
    for (Index unit = begin; unit < end; ++unit) {
      repair_gradients(c, saved, grad, unit / c.key_heads, unit % c.key_heads);
    }
  });
}

}  // namespace heed
