#include "heed/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>

#include "heed/base/check.h"
#include "heed/base/chunk_shares.h"
#include "heed/base/thread_pool.h"

namespace heed {
namespace {

// As OpenMP's programs read it, which users of clusters set; nothing where it is not a plain number.
int threads_of_environment() {
  const char* const value = std::getenv("OMP_NUM_THREADS");
  if (value == nullptr) return 0;
  const std::string_view text(value);
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  return error == std::errc() && end == text.data() + text.size() ? threads : 0;
}

// The cores that the process may run on.
int cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::atomic<int>& count() {
  static std::atomic<int> count = [] {
    const int wanted = threads_of_environment();
    return std::clamp(wanted > 0 ? wanted : cores(), 1, kMostThreads);
  }();
  return count;
}

// Whether this thread is at work in a loop.
thread_local bool t_in_loop = false;

class InLoop {
 public:
  InLoop() { t_in_loop = true; }
  ~InLoop() { t_in_loop = false; }
};

Index chunks_of(Index count, Index grain) {
  grain = std::max<Index>(grain, 1);
  return count / grain + (count % grain != 0 ? 1 : 0);
}

}  // namespace

int thread_count() { return count().load(std::memory_order_relaxed); }

void set_thread_count(int threads) {
  HEED_CHECK(threads >= 1 && threads <= kMostThreads, "set_thread_count: threads must be from 1 to {}, but is {}",
             kMostThreads, threads);
  count().store(threads, std::memory_order_relaxed);
}

Index grain_of(double work, double enough) { return static_cast<Index>(std::max(enough / std::max(work, 1.0), 1.0)); }

Index shared_grain(Index count, Index grain) {
  grain = std::max<Index>(grain, 1);
  if (count <= grain) return grain;
  const Index each = ceil_div(count, std::min<Index>(thread_count(), chunks_of(count, grain)));
  return ceil_div(each, ceil_div(each, grain));
}

int loop_threads(Index count, Index grain) {
  if (count <= 0) return 0;
  return t_in_loop ? 1 : static_cast<int>(std::min<Index>(thread_count(), chunks_of(count, grain)));
}

void parallel_for(Index count, Index grain, int threads, const std::function<void(Index, Index, int)>& body) {
  if (count <= 0) return;
  grain = std::max<Index>(grain, 1);
  const Index chunks = chunks_of(count, grain);
  const auto run = [&](Index chunk, int thread) {
    const Index begin = chunk * grain;
    body(begin, begin + std::min(count - begin, grain), thread);
  };
  if (threads <= 1 || t_in_loop) {
    for (Index chunk = 0; chunk < chunks; ++chunk) run(chunk, 0);
    return;
  }
  ChunkShares shares(chunks, threads);
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  run_on_threads(threads, [&](int thread) {
    const InLoop in_loop;
    shares.take(thread, [&](Index chunk) {
      try {
        run(chunk, thread);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
      return !failed.load(std::memory_order_relaxed);
    });
  });
  if (failure) std::rethrow_exception(failure);
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  parallel_for(count, grain, loop_threads(count, grain), [&body](Index begin, Index end, int) { body(begin, end); });
}

}  // namespace heed
