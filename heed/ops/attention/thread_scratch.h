// Scratch memory for a parallel loop, from a workspace that only the caller's thread may touch: one slot for each
// thread, taken before the loop and handed out inside it.
//
//   ThreadScratch slots(workspace, bytes);
//   parallel_for(n, grain, [&](Index begin, Index end) { const ThreadScratch::Slot slot(slots); work(slot.data()); });
#pragma once

#include <mutex>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/workspace.h"

namespace heed {

class ThreadScratch {
 public:
  ThreadScratch(Workspace& workspace, Index bytes) : scope_(workspace) {
    for (int thread = 0; thread < thread_count(); ++thread) free_.push_back(workspace.take<char>(bytes));
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
