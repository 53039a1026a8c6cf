#include "heed/base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "heed/base/check.h"

namespace heed {
namespace {

std::atomic<int> g_thread_count{0};  // 0: not set, follow OpenMP

}  // namespace

int thread_count() {
  const int set = g_thread_count.load(std::memory_order_relaxed);
  return set > 0 ? set : omp_get_max_threads();
}

void set_thread_count(int threads) {
  HEED_CHECK(threads >= 1 && threads <= 1024, "set_thread_count: threads must be from 1 to 1024, but is {}", threads);
  g_thread_count.store(threads, std::memory_order_relaxed);
  omp_set_num_threads(threads);
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  if (count <= 0) return;
  grain = std::max<Index>(grain, 1);
  const Index chunks = (count + grain - 1) / grain;
  const auto run = [&](Index chunk) { body(chunk * grain, std::min(count, (chunk + 1) * grain)); };
  const int threads = static_cast<int>(std::min<Index>(thread_count(), chunks));
  if (threads == 1 || omp_in_parallel()) {
    for (Index chunk = 0; chunk < chunks; ++chunk) run(chunk);
    return;
  }
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      run(chunk);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace heed
