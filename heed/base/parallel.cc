#include "heed/base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "heed/base/check.h"

namespace heed {
namespace {

std::atomic<int> g_thread_count{0};  // 0: not set, follow OpenMP

Index chunks_of(Index count, Index grain) {
  grain = std::max<Index>(grain, 1);
  return count / grain + (count % grain != 0 ? 1 : 0);
}

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

int loop_threads(Index count, Index grain) {
  if (count <= 0) return 0;
  return omp_in_parallel() ? 1 : static_cast<int>(std::min<Index>(thread_count(), chunks_of(count, grain)));
}

void parallel_for(Index count, Index grain, int threads, const std::function<void(Index, Index, int)>& body) {
  if (count <= 0) return;
  grain = std::max<Index>(grain, 1);
  const Index chunks = chunks_of(count, grain);
  const auto run = [&](Index chunk, int thread) {
    const Index begin = chunk * grain;
    body(begin, begin + std::min(count - begin, grain), thread);
  };
  if (threads <= 1 || omp_in_parallel()) {
    for (Index chunk = 0; chunk < chunks; ++chunk) run(chunk, 0);
    return;
  }
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      run(chunk, omp_get_thread_num());
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  parallel_for(count, grain, loop_threads(count, grain), [&body](Index begin, Index end, int) { body(begin, end); });
}

}  // namespace heed
