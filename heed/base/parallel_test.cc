#include "heed/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  std::vector<int> seen(1003, 0);
  parallel_for(1003, 7, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) ++seen[i];
  });
  for (int count : seen) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, ChunksDoNotDependOnTheThreadCount) {
  const int before = thread_count();
  for (int threads : {1, 2, 5}) {
    set_thread_count(threads);
    std::vector<Index> ends(4, -1);
    parallel_for(10, 3, [&](Index begin, Index end) { ends[begin / 3] = end; });
    EXPECT_EQ(ends, (std::vector<Index>{3, 6, 9, 10})) << threads;
  }
  set_thread_count(before);
}

TEST(SharedGrain, NoThreadHasMoreThanTheOthers) {
  const int before = thread_count();
  set_thread_count(2);
  EXPECT_EQ(shared_grain(12, 10), 6);
  EXPECT_EQ(shared_grain(12, 4), 3);
  EXPECT_EQ(shared_grain(12, 1), 1);
  EXPECT_EQ(shared_grain(12, 12), 12);  // no more than is worth handing to one thread
  EXPECT_EQ(shared_grain(512, 163), 128);
  EXPECT_EQ(shared_grain(0, 3), 3);
  set_thread_count(16);
  EXPECT_EQ(shared_grain(12, 10), 6);  // two threads, since a third would have too little
  EXPECT_EQ(shared_grain(12, -1), 1);
  set_thread_count(before);
}

TEST(ParallelFor, NestedRunsSeriallyAndCompletes) {
  std::atomic<int> sum{0};
  parallel_for(4, 1, [&](Index, Index) { parallel_for(5, 1, [&](Index, Index) { ++sum; }); });
  EXPECT_EQ(sum, 20);
}

TEST(ParallelFor, AnExceptionReachesTheCaller) {
  EXPECT_THROW(parallel_for(8, 1,
                            [](Index begin, Index) {
                              if (begin == 3) throw Error("three");
                            }),
               Error);
}

TEST(ParallelFor, EmptyRangeCallsNothing) {
  parallel_for(0, 4, [](Index, Index) { FAIL(); });
}

TEST(ParallelFor, CutsOfAnyGrainCoverTheRange) {
  constexpr Index kHuge = std::numeric_limits<Index>::max();
  for (Index grain : {kHuge, kHuge - 1, Index{11}, Index{0}, Index{-5}}) {
    std::vector<int> seen(11, 0);
    parallel_for(11, grain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) ++seen[i];
    });
    EXPECT_EQ(seen, std::vector<int>(11, 1)) << grain;
  }
}

// What was prepared for each thread is enough, though the count has been raised since.
TEST(ParallelFor, RunsOnNoMoreThreadsThanItWasGiven) {
  const int before = thread_count();
  set_thread_count(3);
  const int threads = loop_threads(1000, 1);
  EXPECT_EQ(threads, 3);
  set_thread_count(16);
  std::vector<std::atomic<int>> at_work(3);
  std::atomic<int> visited{0};
  parallel_for(1000, 1, threads, [&](Index, Index, int thread) {
    ASSERT_TRUE(thread >= 0 && thread < threads);
    EXPECT_EQ(at_work[thread].fetch_add(1), 0) << "two bodies at a time on thread " << thread;
    ++visited;
    at_work[thread].fetch_sub(1);
  });
  set_thread_count(before);
  EXPECT_EQ(visited, 1000);
}

// Each caller's loop is complete, whoever of the pool's threads has time for it.
TEST(ParallelFor, ManyThreadsMayRunLoopsAtOnce) {
  const int before = thread_count();
  set_thread_count(3);
  std::vector<std::thread> callers;
  std::vector<Index> sums(8, 0);
  for (Index& sum : sums) {
    callers.emplace_back([&sum] {
      for (int loop = 0; loop < 200; ++loop) {
        std::atomic<Index> seen{0};
        parallel_for(50, 3, [&](Index begin, Index end) { seen += end - begin; });
        sum += seen;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  set_thread_count(before);
  EXPECT_EQ(sums, std::vector<Index>(8, 200 * 50));
}

// The other thread of two begins while this one is at work, and so the two meet.
TEST(ParallelFor, RunsOnSeveralThreads) {
  const int before = thread_count();
  set_thread_count(2);
  std::atomic<int> at_work{0};
  parallel_for(2, 1, [&](Index, Index) {
    ++at_work;
    while (at_work < 2) std::this_thread::yield();
  });
  set_thread_count(before);
  EXPECT_EQ(at_work, 2);
}

TEST(ParallelFor, WakesAThreadThatHasGoneToSleep) {
  const int before = thread_count();
  set_thread_count(2);
  for (int pause = 0; pause < 20; ++pause) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than a thread looks out for a loop
    std::atomic<int> at_work{0};
    parallel_for(2, 1, [&](Index, Index) {
      ++at_work;
      while (at_work < 2) std::this_thread::yield();
    });
  }
  set_thread_count(before);
}

TEST(ParallelFor, AChildOfForkRunsLoopsToo) {
  parallel_for(100, 1, [](Index, Index) {});  // the parent has threads, which the child has not
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> seen{0};
    for (int loop = 0; loop < 100; ++loop) parallel_for(100, 1, [&](Index, Index) { ++seen; });
    ::_exit(seen == 100 * 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(LoopThreads, AreAtMostOneForEachChunk) {
  const int before = thread_count();
  set_thread_count(8);
  EXPECT_EQ(loop_threads(100, 1), 8);
  EXPECT_EQ(loop_threads(10, 4), 3);
  EXPECT_EQ(loop_threads(0, 4), 0);
  parallel_for(2, 1, [](Index, Index) { EXPECT_EQ(loop_threads(100, 1), 1); });  // a nested loop is serial
  set_thread_count(before);
}

TEST(SetThreadCount, RefusesNonsense) {
  EXPECT_THROW(set_thread_count(0), Error);
  EXPECT_THROW(set_thread_count(-3), Error);
}

}  // namespace
}  // namespace heed
