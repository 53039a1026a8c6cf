// What a mask that repeats (Child et al. 2019) is made of: problems of the same heads, each with some of the rows and
// keys under a mask that costs little to ask. The far keys of a query are those of every query a period away, and so a
// dense matrix of a row in each period by a key in each period; those near it are an interval.
#pragma once

#include <algorithm>
#include <vector>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

struct PeriodicPart {
  AttentionProblem problem{};
  Index row = 0, row_step = 1, key = 0, key_step = 1;  // which rows and keys of the whole it has

  // What of a [B, H, Lq] or [B, H, Lq, D] view is the part's, and of one of the keys'; an empty view has nothing.
  template <typename AnyView>
  AnyView rows_of(const AnyView& view) const {
    return part_of(view, row, row_step);
  }
  template <typename AnyView>
  AnyView keys_of(const AnyView& view) const {
    return part_of(view, key, key_step);
  }

 private:
  template <typename AnyView>
  static AnyView part_of(const AnyView& view, Index first, Index step) {
    return view ? slice(view, 2, std::min(first, view.shape[2]), view.shape[2], step) : view;
  }
};

// Sweeps over parts that have no row in common, and no key either: by all threads over the only one, `all(part)`, or by
// each thread over some of them, `one(part, b, g, memory)` for every key/value head, with so many bytes of memory. A
// head's parts follow one another: rows of the next lie beside those of the last.
template <typename All, typename One>
void sweep_parts(const std::vector<PeriodicPart>& parts, Index bytes, Workspace& workspace, const All& all,
                 const One& one) {
  const AttentionProblem& c = parts[0].problem;
  const auto count = static_cast<Index>(parts.size());
  if (count == 1) return all(parts[0]);
  const auto run = [&](Index begin, Index end, char* memory) {
    for (Index unit = begin; unit < end; ++unit) {
      const Index head = unit / count;
      one(parts[static_cast<std::size_t>(unit % count)], head / c.key_heads, head % c.key_heads, memory);
    }
  };
  parallel_for_with_scratch(workspace, bytes, c.batch * c.key_heads * count, 1, run);
}

class PeriodicParts {
 public:
  // Whether the mask repeats and nothing else is asked of pairs.
  static bool fit(const AttentionProblem& c);
  explicit PeriodicParts(const AttentionProblem& problem) : c(problem), pattern_(*problem.mask.periodic()) {}

  bool has_keys_behind() const { return !c.mask.has_window(); }

  // Every row against the keys near it.
  AttentionProblem near() const;
  // Rows against the far keys before, or behind, them, in parts that have no row in common, and no key either. The
  // first one is the largest.
  std::vector<PeriodicPart> far(bool behind) const;
  // Whether a far part's row is the only one, of its tile of all rows, that sees one of its keys. (A key always is the
  // only one, of its block of all keys, that the row sees.)
  bool far_rows_are_apart() const { return pattern_.near == PeriodicKeys::Near::window; }

 private:
  PeriodicPart part(PeriodicPart of, const Mask& mask) const;
  PeriodicPart far_residue(Index residue, bool behind) const;
  PeriodicPart far_blocks(bool behind) const;

  const AttentionProblem& c;
  PeriodicKeys pattern_;
};

}  // namespace heed
