#include "heed/ops/attention/plans/periodic_parts.h"

#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/plans/float_rows.h"

namespace heed {

using kernels::kLaneKeys;
using Near = PeriodicKeys::Near;

bool PeriodicParts::fit(const AttentionProblem& c) {
  const std::optional<PeriodicKeys> pattern = c.mask.periodic();
  if (!pattern) return false;
  // Measured: where periods are few, a tile that meets all of its blocks in one sweep takes less time.
  const bool few = std::min(c.queries, c.keys) <= (pattern->near == Near::window ? 12 : 6) * pattern->period;
  // A far key is the only one of its block that a row may see.
  const Index period = pattern->period;
  const bool apart = pattern->near == Near::window ? period >= kLaneKeys : period % kLaneKeys == 0;
  const auto is_float = [](const RowSource& rows) { return !rows.view() || lies_as_floats(rows); };
  return apart && !few && c.spec.normaliser.kind == Normaliser::Kind::softmax && c.dtype == DType::f32 &&
         is_float(c.k) && is_float(c.v) && !c.bias.active() && !c.dropout.active() && c.cap == 0;
}

PeriodicPart PeriodicParts::part(PeriodicPart of, const Mask& mask) const {
  AttentionProblem& problem = of.problem;
  problem = c;
  problem.q = of.rows_of(c.q);
  problem.k = RowSource(of.keys_of(c.k.view()), {});
  if (c.v) problem.v = RowSource(of.keys_of(c.v.view()), {});
  problem.queries = problem.q.shape[2], problem.keys = problem.k.view().shape[2];
  problem.spec.mask = mask;
  problem.mask = MaskRows(mask, {c.batch, c.heads, problem.queries, problem.keys});
  return of;
}

AttentionProblem PeriodicParts::near() const {
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
  return part({}, has_keys_behind() ? mask : mask & Mask::causal(Anchor::start)).problem;
}

std::vector<PeriodicPart> PeriodicParts::far(bool behind) const {
  if (pattern_.near == Near::block) return {far_blocks(behind)};
  std::vector<PeriodicPart> residues;
  for (Index residue = 0; residue < pattern_.period; ++residue) residues.push_back(far_residue(residue, behind));
  return residues;
}

// The queries of a residue and their far keys: a key two periods away, or more, is far. Row n sees the keys up to n, or
// from n on.
PeriodicPart PeriodicParts::far_residue(Index residue, bool behind) const {
  const Index period = pattern_.period, row = residue + (behind ? 0 : 2 * period),
              key = residue + (behind ? 2 * period : 0);
  const Mask mask = behind ? Mask::sliding_window(0, {}, Anchor::start) : Mask::causal(Anchor::start);
  return part({.row = row, .row_step = period, .key = key, .key_step = period}, mask);
}

// The queries beyond the first block, or all, and the last keys of blocks: one of the n-th block sees those up to n, or
// from n on.
PeriodicPart PeriodicParts::far_blocks(bool behind) const {
  const Index period = pattern_.period, row = behind ? 0 : period, key = period - 1 + (behind ? period : 0);
  const Index rows = std::max<Index>(c.queries - row, 0);
  const Tensor block = Tensor::empty(DType::i64, {1, 1, rows});
  for (Index i = 0; i < rows; ++i) block.data<std::int64_t>()[i] = i / period;
  Mask mask;
  mask.window = Window{.centre = block};
  (behind ? mask.window->left : mask.window->right) = 0;
  return part({.row = row, .key = key, .key_step = period}, mask);
}

}  // namespace heed
