// The one thread pool, behind one loop.
//
//   parallel_for(rows, 16, [&](Index begin, Index end) { for (Index r = begin; r < end; ++r) work(r); });
#pragma once

#include <functional>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// How many threads parallel_for uses: at first OMP_NUM_THREADS, or every core the process may run on.
int thread_count();
// Sets it; throws heed::Error unless 1 <= threads <= 1024.
void set_thread_count(int threads);

// Calls body(begin, end) over [0, count) cut into chunks of `grain` (the last may be shorter), on all threads. The cuts
// depend on count and grain alone, never on the thread count, so a body that reduces within a chunk gives the same bits
// on every machine. A thread has a run of chunks of its own, in order, and then helps the others (ChunkShares): in
// which order chunks of several threads begin is not said. Inside another parallel_for it runs serially. An exception
// from body is rethrown to the caller after the loop has ended. The thread count may be set meanwhile: a loop goes on
// with the one that it began with.
void parallel_for(Index count, Index grain, const std::function<void(Index begin, Index end)>& body);

// The grain at which a chunk is `enough` work to be worth handing to a thread, where each index is `work`; at least 1.
// In double, since work is a product of extents, which may be larger than any Index.
Index grain_of(double work, double enough);
// The largest grain up to this one, or nearly so, with which no thread has more than the others: for loops whose bits
// do not depend on their cuts, since it depends on the thread count.
Index shared_grain(Index count, Index grain);

// How many threads that loop would run on now: at most one for each chunk. Who prepares something for each thread reads
// it once and hands it to the loop below, since it may be another one at the next reading.
int loop_threads(Index count, Index grain);
// The same loop on at most `threads` threads. No two bodies with the same `thread`, in [0, threads), run at a time.
void parallel_for(Index count, Index grain, int threads,
                  const std::function<void(Index begin, Index end, int thread)>& body);

}  // namespace heed
