// What a mask that repeats (Child et al. 2019) is made of: problems of the same heads, each with some of the rows and
// keys under a mask that costs little to ask. The far keys of a query are those of every query a period away, and so a
// dense matrix of a row in each period by a key in each period; those near it are an interval.
#pragma once

#include <algorithm>
#include <vector>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

// Every `step`-th index of a view's axis, from `first` on.
template <typename AnyView>
AnyView every(AnyView view, int axis, Index first, Index step) {
  const Index count = view.shape[static_cast<std::size_t>(axis)];
  view = slice(view, axis, std::min(first, count), count);
  view.shape[axis] = ceil_div(view.shape[axis], step);
  view.stride[axis] *= step;
  return view;
}

struct PeriodicPart {
  AttentionProblem problem{};
  Index row = 0, row_step = 1, key = 0, key_step = 1;  // which rows and keys of the whole it has

  // What of a [B, H, Lq] or [B, H, Lq, D] view is the part's, and of one of the keys'; an empty view has nothing.
  template <typename AnyView>
  AnyView rows_of(const AnyView& view) const {
    return view ? every(view, 2, row, row_step) : view;
  }
  template <typename AnyView>
  AnyView keys_of(const AnyView& view) const {
    return view ? every(view, 2, key, key_step) : view;
  }
};

// Calls f(part, b, g, memory) for every part of each key/value head, from all threads, each with some memory. A head's
// follow one another: rows of the next part lie beside those of the last.
template <typename F>
void for_heads_and_parts(Workspace& workspace, Index bytes, const std::vector<PeriodicPart>& parts, const F& f) {
  const AttentionProblem& c = parts[0].problem;
  const auto count = static_cast<Index>(parts.size());
  parallel_for_with_scratch(
      workspace, bytes, c.batch * c.key_heads * count, 1, [&](Index begin, Index end, char* memory) {
        for (Index unit = begin; unit < end; ++unit) {
          const Index head = unit / count;
          f(parts[static_cast<std::size_t>(unit % count)], head / c.key_heads, head % c.key_heads, memory);
        }
      });
}

class PeriodicParts {
 public:
  // Whether the mask repeats and nothing else is asked of pairs.
  static bool fit(const AttentionProblem& c);
  explicit PeriodicParts(const AttentionProblem& problem) : c(problem), pattern_(*problem.mask.periodic()) {}

  bool has_keys_behind() const { return !c.mask.has_window(); }

  // Every row against the keys near it.
  PeriodicPart near() const;
  // Rows against the far keys before, or behind, them, in parts that have no row in common, and no key either. The
  // first one is the largest; each has rows, though it may have no keys.
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
