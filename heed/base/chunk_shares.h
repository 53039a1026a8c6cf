// The chunks of a loop, shared out among its threads.
//
//   ChunkShares shares(chunks, threads);
//   run_on_threads(threads, [&](int thread) { shares.take(thread, [&](Index chunk) { return work(chunk); }); });
#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "heed/base/index.h"

namespace heed {

// Each thread has a run of chunks of its own, the same in every loop of so many, so that it finds in its caches what it
// wrote in the loop before. A thread that has done its own does what is left of the others'.
class ChunkShares {
 public:
  ChunkShares(Index chunks, int threads) : count_(std::clamp(threads, 1, kMost)) {
    const Index each = chunks / count_, longer = chunks % count_;
    Index end = 0;
    for (int n = 0; n < count_; ++n) {
      Share& share = share_of(n);
      share.next = end;
      share.end = end += each + (n < longer ? 1 : 0);
    }
  }

  // Calls f(chunk) for chunks that no other call has had, while there are any and f returns true.
  template <typename F>
  void take(int thread, const F& f) {
    for (int n = 0; n < count_; ++n) {
      Share& share = share_of(thread + n);
      const std::atomic_ref next(share.next);
      // Read first: where all are taken, a write would take the line from its thread.
      while (next.load(std::memory_order_relaxed) < share.end) {
        const Index chunk = next.fetch_add(1, std::memory_order_relaxed);
        if (chunk < share.end && !f(chunk)) return;
      }
    }
  }

 private:
  static constexpr int kMost = 64;  // which more threads have together
  // In a line of its own: its thread alone writes it, mostly.
  struct alignas(64) Share {
    Index next, end;  // next: no std::atomic, which would be set to zero in all of them
  };

  Share& share_of(int n) { return shares_[static_cast<std::size_t>(n % count_)]; }

  int count_;
  std::array<Share, kMost> shares_;  // the first count_ of them
};

}  // namespace heed
