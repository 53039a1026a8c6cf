#include "heed/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
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

TEST(SetThreadCount, RefusesNonsense) {
  EXPECT_THROW(set_thread_count(0), Error);
  EXPECT_THROW(set_thread_count(-3), Error);
}

}  // namespace
}  // namespace heed
