#include "heed/ops/attention/plans/fused_periodic.h"

#include <algorithm>
#include <limits>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/lane_carry.h"
#include "heed/ops/attention/plans/repair.h"

namespace heed {
namespace {

using kernels::kLaneKeys;
using Near = PeriodicKeys::Near;

// Every `step`-th row of a [B, H, L] or [B, H, L, D] view, from row `first` on.
template <typename AnyView>
AnyView every(AnyView view, Index first, Index step) {
  const Index rows = view.shape[2];
  view = slice(view, 2, std::min(first, rows), rows);
  view.shape[2] = ceil_div(view.shape[2], step);
  view.stride[2] *= step;
  return view;
}

// A problem of the same heads with other rows and keys under another mask.
AttentionProblem part_of(const AttentionProblem& c, const ConstView& q, const ConstView& k, const ConstView& v,
                         const Mask& mask) {
  AttentionProblem part = c;
  part.q = q, part.k = RowSource(k, {});
  if (v) part.v = RowSource(v, {});
  part.queries = q.shape[2], part.keys = k.shape[2];
  part.spec.mask = mask;
  part.mask = MaskRows(mask, {c.batch, c.heads, part.queries, part.keys});
  return part;
}

class PeriodicSweeps {
 public:
  PeriodicSweeps(const AttentionProblem& problem, const AttentionResult& wanted, const View& top, const View& sum)
      : c(problem), result(wanted), top_(top), sum_(sum), pattern_(*problem.mask.periodic()) {}

  bool has_keys_behind() const { return !c.mask.has_window(); }

  // What the far keys before, or behind, the queries add.
  void add_far(bool behind, Workspace& workspace) const {
    if (pattern_.near == Near::block) {
      const Index row = behind ? 0 : pattern_.period;
      const AttentionProblem part = part_of_blocks(row, behind);
      if (part.queries > 0)
        fused_sweep(part, LaneNumbers::f32, rows_of_result(row, 1), carry_of(row, 1, behind), workspace);
      return;
    }
    // The first residue has the most queries and keys.
    const Index bytes = fused_sweep_bytes(part_of_residue(0, behind)), step = pattern_.period;
    parallel_for_with_scratch(workspace, bytes, step, 1, [&](Index begin, Index end, char* memory) {
      for (Index residue = begin; residue < end; ++residue) {
        const Index row = first_row(residue, behind);
        const AttentionProblem part = part_of_residue(residue, behind);
        if (part.queries > 0) fused_sweep(part, rows_of_result(row, step), carry_of(row, step, behind), memory);
      }
    });
  }

  void add_near(Workspace& workspace) const {
    const AttentionProblem part = part_of(c, c.q, c.k.view(), c.v.view(), near_mask());
    const LaneCarry carry{.top = top_, .sum = sum_, .first = false, .last = !has_keys_behind()};
    fused_sweep(part, LaneNumbers::f32, result, carry, workspace);
  }

 private:
  // In a window a far key is two periods away, or more: a query of a residue that has one before it, and that one.
  Index first_row(Index residue, bool behind) const { return residue + (behind ? 0 : 2 * pattern_.period); }
  Index first_key(Index residue, bool behind) const { return residue + (behind ? 2 * pattern_.period : 0); }

  // The queries of a residue and their far keys before, or behind: row n sees the keys up to n, or from n on.
  AttentionProblem part_of_residue(Index residue, bool behind) const {
    const Index row = first_row(residue, behind), key = first_key(residue, behind), period = pattern_.period;
    const Mask mask = behind ? Mask::sliding_window(0, {}, Anchor::start) : Mask::causal(Anchor::start);
    return part_of(c, every(c.q, row, period), every(c.k.view(), key, period), values(key), mask);
  }

  // The queries from `row` on and the last keys of blocks: one of the n-th block sees those up to n, or from n on.
  AttentionProblem part_of_blocks(Index row, bool behind) const {
    const Index key = pattern_.period - 1 + (behind ? pattern_.period : 0);
    const ConstView q = every(c.q, row, 1);
    const Tensor block = Tensor::empty(DType::i64, {1, 1, q.shape[2]});
    for (Index i = 0; i < q.shape[2]; ++i) block.data<std::int64_t>()[i] = i / pattern_.period;
    Mask mask;
    mask.window = Window{.centre = block};
    (behind ? mask.window->left : mask.window->right) = 0;
    return part_of(c, q, every(c.k.view(), key, pattern_.period), values(key), mask);
  }

  ConstView values(Index key) const { return c.v ? every(c.v.view(), key, pattern_.period) : ConstView{}; }

  LaneCarry carry_of(Index row, Index step, bool behind) const {
    return {
        .top = every(top_, row, step), .sum = every(sum_, row, step), .first = !behind, .last = behind, .apart = true};
  }

  AttentionResult rows_of_result(Index row, Index step) const {
    AttentionResult rows;
    if (result.out) rows.out = every(result.out, row, step);
    if (result.row_stat) rows.row_stat = every(result.row_stat, row, step);
    return rows;
  }

  Mask near_mask() const {
    const Index period = pattern_.period;
    Mask mask;
    if (pattern_.near == Near::window) {
      mask = Mask::sliding_window(period, period, Anchor::start);
    } else {  // the block is a window around its middle
      const Tensor centre = Tensor::empty(DType::i64, {1, 1, c.queries});
      for (Index i = 0; i < c.queries; ++i) centre.data<std::int64_t>()[i] = i / period * period + period / 2;
      mask.anchor = Anchor::start;
      mask.window = Window{.left = period / 2, .right = period - 1 - period / 2, .centre = centre};
    }
    return has_keys_behind() ? mask : mask & Mask::causal(Anchor::start);
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  View top_, sum_;
  PeriodicKeys pattern_;
};

}  // namespace

bool is_periodic(const AttentionProblem& c, const AttentionResult& result) {
  const std::optional<PeriodicKeys> pattern = c.mask.periodic();
  if (!pattern || result.weights || result.scores) return false;
  // Where periods are few, a tile's blocks are not: it does no more work to meet all of them in one sweep.
  const bool few = c.queries <= (pattern->near == Near::window ? 8 : 4) * pattern->period;
  // A far key is the only one of its block that a row may see.
  const Index period = pattern->period;
  const bool apart = pattern->near == Near::window ? period >= kLaneKeys : period % kLaneKeys == 0;
  const auto is_float = [](const RowSource& rows) { return !rows.view() || lies_as_floats(rows); };
  return apart && !few && c.spec.normaliser.kind == Normaliser::Kind::softmax && c.dtype == DType::f32 &&
         is_float(c.k) && is_float(c.v) && !c.bias.active() && !c.dropout.active() && c.cap == 0;
}

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
  const PeriodicSweeps sweeps(c, result, top, sum);
  sweeps.add_far(false, workspace);
  sweeps.add_near(workspace);
  if (sweeps.has_keys_behind()) sweeps.add_far(true, workspace);
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
