#include "heed/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
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
