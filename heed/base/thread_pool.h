// The threads behind parallel_for, which alone uses this.
//
//   run_on_threads(4, [&](int thread) { while (more()) work(thread); });
#pragma once

#include <functional>

namespace heed {

inline constexpr int kMostThreads = 1024;  // that may be asked for

// Calls work(0) on this thread and, on as many of the pool's as come in time, work with another number below `threads`,
// which a thread keeps from call to call where it can; returns when all that began have ended. work shares out what
// there is to do by itself, so that it is complete whoever comes, and throws nothing. Any number of threads may call
// this at once, a child of fork() too.
void run_on_threads(int threads, const std::function<void(int thread)>& work);

}  // namespace heed
