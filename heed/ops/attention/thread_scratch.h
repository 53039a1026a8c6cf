// Scratch memory for a parallel loop, from a workspace that only the caller's thread may touch: one slot for each
// thread that the loop can keep busy, taken before it and handed out inside it.
//
//   ThreadScratch slots(workspace, bytes, n);
//   parallel_for(n, grain, [&](Index begin, Index end) { const ThreadScratch::Slot slot(slots); work(slot.data()); });
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/workspace.h"

namespace heed {

class ThreadScratch {
 public:
  // `units`: what the loop counts.
  ThreadScratch(Workspace& workspace, Index bytes, Index units) : scope_(workspace) {
    const Index threads = std::min<Index>(thread_count(), units);
    for (Index thread = 0; thread < threads; ++thread) free_.push_back(workspace.take<char>(bytes));
  }

  // Holds a slot while it lives. There are as many as threads run the loop, so one is always free.
  class Slot {
   public:
    explicit Slot(ThreadScratch& scratch) : scratch_(scratch) {
      const std::lock_guard lock(scratch_.mutex_);
      data_ = scratch_.free_.back();
      scratch_.free_.pop_back();
    }
    ~Slot() {
      const std::lock_guard lock(scratch_.mutex_);
      scratch_.free_.push_back(data_);
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    char* data() const { return data_; }

   private:
    ThreadScratch& scratch_;
    char* data_;
  };

 private:
  Workspace::Scope scope_;
  std::mutex mutex_;
  std::vector<char*> free_;
};

}  // namespace heed
