// A parallel loop whose body needs scratch memory: some for each thread that runs it, taken before the loop from a
// workspace that only the caller's thread may touch.
//
//   parallel_for_with_scratch(workspace, bytes, n, grain, [&](Index begin, Index end, char* memory) { ... });
#pragma once

#include <functional>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/base/workspace.h"

namespace heed {

// Calls body(begin, end, memory) as parallel_for() calls its body, in chunks of `grain` or of fewer that are shared out
// evenly, with `bytes` of memory, 64-byte aligned and not initialised, that no other body has at the time. No bit may
// depend on the cuts. The thread count of the loop is read once, for the memory and for the loop: another thread may
// set it at any moment. Throws heed::Error for more memory than a machine has.
template <typename Body>
void parallel_for_with_scratch(Workspace& workspace, Index bytes, Index count, Index grain, const Body& body) {
  constexpr Index kMostBytes = Index{1} << 46;
  const Workspace::Scope scope(workspace);
  grain = shared_grain(count, grain);
  const int threads = loop_threads(count, grain);
  HEED_CHECK(threads == 0 || bytes <= kMostBytes / threads,
             "attention: {} bytes of scratch memory for each of {} threads are more than a machine has", bytes,
             threads);
  const Index slot = (bytes + 63) / 64 * 64;
  char* const memory = workspace.take<char>(threads * slot);
  const auto run = [&](Index begin, Index end, int thread) { body(begin, end, memory + thread * slot); };
  parallel_for(count, grain, threads, std::cref(run));  // a reference, for which std::function allocates nothing
}

}  // namespace heed
