// The outputs of several maps of the same rows, a map's after those of the one before it, and how products with few
// rows share them out: in steps, and each thread reads the weights of some steps, one after another.
#pragma once

#include <algorithm>
#include <span>

#include "heed/base/parallel.h"
#include "heed/ops/affine_map.h"

namespace heed {

// Calls f(map, y) for each map, with the part of y [R, outputs of all] that is its own.
template <typename F>
void for_each_map(std::span<const AffineMap> maps, const View& y, const F& f) {
  Index row = 0;
  for (const AffineMap& map : maps) {
    f(map, slice(y, 1, row, row + map.weight.outputs()));
    row += map.weight.outputs();
  }
}

// Outputs [first, last) of a map, and all of its outputs.
struct OutputShare {
  const AffineMap& map;
  View y;
  Index first, last;
};

// Calls f(share) with what each thread computes of each map: whole steps, of step_of(weight) outputs and `step_bytes`
// at most. The first step begins with rows that nobody has asked for, so that a thread should have many; but the last
// thread to end is waited for, so that each should have as many as the others.
template <typename StepOf, typename F>
void for_each_share(std::span<const AffineMap> maps, const View& y, const StepOf& step_of, double step_bytes,
                    const F& f) {
  constexpr double kBytesPerTask = 64 * 1024;  // fewer are not worth a hand-over
  constexpr Index kMostSteps = 16, kTasksPerThread = 2;
  const auto steps_in = [&](const AffineMap& map) { return ceil_div(map.weight.outputs(), step_of(map.weight)); };
  Index steps = 0;
  for (const AffineMap& map : maps) steps += steps_in(map);
  const Index threads = thread_count(),
              tasks = threads * std::max(kTasksPerThread, ceil_div(steps, kMostSteps * threads));
  const Index together = std::max(grain_of(step_bytes, kBytesPerTask), ceil_div(steps, tasks));
  parallel_for(steps, together, [&](Index begin, Index end) {
    for_each_map(maps, y, [&](const AffineMap& map, const View& own) {
      const Index step = step_of(map.weight), here = steps_in(map);
      const Index first = std::max(begin, Index{0}) * step, last = std::min(end * step, map.weight.outputs());
      if (first < last) f(OutputShare{map, own, first, last});
      begin -= here, end -= here;
    });
  });
}

}  // namespace heed
