// A pool of threads that help whoever runs a loop.
//
// A loop is a Job on its caller's stack. The caller opens it, works on it itself, and closes it when there is nothing
// left to hand out; threads of the pool join an open job, each with a number of its own, and leave it when they find
// nothing more to do. A loop therefore never waits for a thread that has not begun: beside other busy processes, or in
// a child of fork(), which has none of its parent's threads, it goes on with those that are there.
//
// A thread without a job looks out for the next one for kPatience, since the next loop mostly begins at once, and then
// sleeps. OpenMP's threads look out for milliseconds, and take the time from other processes.
#include "heed/base/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace heed {
namespace {

constexpr std::chrono::microseconds kPatience{50};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks for `done` for a while; returns whether it came true.
template <typename Condition>
bool comes_true_soon(const Condition& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

struct Job {
  const std::function<void(int)>* work;
  int threads;
  std::atomic<int> wanted;               // besides the caller, that may still join; once none may, the job is not open
  std::bitset<kMostThreads> numbers{1};  // that are taken; the caller's is 0
  std::atomic<int> at_work{0};           // threads that have joined and not left

  // A number for a thread that joins: the one that it has in other jobs, too, or the first that is free.
  int number_for(int thread) {
    if (thread >= threads || numbers[static_cast<std::size_t>(thread)]) {
      for (thread = 1; numbers[static_cast<std::size_t>(thread)];) ++thread;
    }
    numbers.set(static_cast<std::size_t>(thread));
    return thread;
  }
};

class ThreadPool {
 public:
  void run(int threads, const std::function<void(int)>& work) {
    Job job{.work = &work, .threads = threads, .wanted = threads - 1};
    int to_wake = 0;
    {
      const std::lock_guard lock(mutex_);
      grow(threads - 1);
      open_.push_back(&job);
      to_wake = std::min(sleeping_, threads - 1);
    }
    // Without the lock, which those who look out for this take at once.
    opened_.fetch_add(1, std::memory_order_release);
    for (; to_wake > 0; --to_wake) job_opened_.notify_one();
    work(0);
    if (job.wanted.load(std::memory_order_acquire) > 0) {
      const std::lock_guard lock(mutex_);
      std::erase(open_, &job);
    }
    const auto all_left = [&] { return job.at_work.load(std::memory_order_acquire) == 0; };
    if (comes_true_soon(all_left)) return;
    std::unique_lock lock(mutex_);
    all_left_.wait(lock, all_left);
  }

 private:
  // Fewer threads than wanted, where the system gives no more, are slower and not wrong.
  void grow(int threads) {
    if (threads <= count_) return;
    // Signals are for the threads of the program that heed is part of.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (; count_ < threads; ++count_) std::thread([this, own = count_ + 1] { serve(own); }).detach();
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  // `own`: the number that the thread takes where it can.
  void serve(int own) {
    std::unique_lock lock(mutex_);
    while (true) {
      if (Job* const job = join()) {
        const int thread = job->number_for(own);
        lock.unlock();
        (*job->work)(thread);
        // From here on the job may be gone.
        const bool last = job->at_work.fetch_sub(1, std::memory_order_acq_rel) == 1;
        lock.lock();
        if (last) all_left_.notify_all();
        continue;
      }
      const unsigned seen = opened_.load(std::memory_order_relaxed);
      const auto another = [&] { return opened_.load(std::memory_order_acquire) != seen; };
      lock.unlock();
      const bool soon = comes_true_soon(another);
      lock.lock();
      if (soon) continue;
      ++sleeping_;
      job_opened_.wait(lock, [&] { return !open_.empty(); });
      --sleeping_;
    }
  }

  Job* join() {
    if (open_.empty()) return nullptr;
    Job* const job = open_.front();
    job->at_work.fetch_add(1, std::memory_order_relaxed);
    if (job->wanted.fetch_sub(1, std::memory_order_release) == 1) open_.erase(open_.begin());
    return job;
  }

  std::mutex mutex_;
  std::condition_variable job_opened_, all_left_;
  std::vector<Job*> open_;           // that threads may join, oldest first
  std::atomic<unsigned> opened_{0};  // jobs so far
  int count_ = 0, sleeping_ = 0;
};

// Never destroyed: its threads outlive every static object.
ThreadPool* g_thread_pool = nullptr;

ThreadPool& thread_pool() {
  static const bool made = [] {
    g_thread_pool = new ThreadPool;
    // A child has none of the threads, and perhaps a lock that one of them held.
    pthread_atfork(nullptr, nullptr, [] { g_thread_pool = new ThreadPool; });
    return true;
  }();
  static_cast<void>(made);
  return *g_thread_pool;
}

}  // namespace

void run_on_threads(int threads, const std::function<void(int)>& work) { thread_pool().run(threads, work); }

}  // namespace heed
