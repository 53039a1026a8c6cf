// How products with few rows share out a weight: each thread reads the outputs of some steps, one after another.
#pragma once

#include <algorithm>

#include "heed/base/parallel.h"

namespace heed {

// The steps that a thread gets together, each of which reads so many bytes. The first begins with rows that nobody has
// asked for, so that there should be many; but the last thread to end is waited for.
inline Index steps_together(Index steps, double step_bytes) {
  constexpr double kBytesPerTask = 64 * 1024;  // fewer are not worth a hand-over
  constexpr Index kMostSteps = 16, kTasksPerThread = 2;
  return std::max(grain_of(step_bytes, kBytesPerTask),
                  std::min(kMostSteps, steps / (kTasksPerThread * thread_count())));
}

}  // namespace heed
