#include "heed/tasks/bench/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace heed {
namespace {

TEST(Timing, AtLeastFiveCallsAreTimedAfterOneThatIsNot) {
  Index calls = 0;
  const Timing timing = time_work([&] { ++calls; }, 0);
  EXPECT_EQ(timing.samples, kLeastSamples);
  EXPECT_EQ(calls, kLeastSamples + 1);
}

TEST(Timing, CallsGoOnForSoLong) {
  Index calls = 0;
  const auto begin = std::chrono::steady_clock::now();
  const Timing timing = time_work([&] { ++calls; }, 0.02);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
  EXPECT_GT(calls, timing.samples);
  EXPECT_LE(timing.fastest, timing.seconds);
}

TEST(Timing, TheMedianIsNotMovedByASlowCall) {
  Index calls = 0;
  const auto work = [&] { std::this_thread::sleep_for(std::chrono::milliseconds(++calls == 3 ? 300 : 1)); };
  const Timing timing = time_work(work, 0);
  EXPECT_GE(timing.seconds, 0.001);
  EXPECT_LT(timing.seconds, 0.05);  // their mean is 0.06
}

TEST(Timing, APairIsTimedInTurn) {
  std::string order;
  const PairedTiming timing = time_beside([&] { order += 'w'; }, [&] { order += 'b'; }, 0);
  EXPECT_EQ(order, "wbbwbwbwbwbw");  // each once to warm up, then five pairs
  EXPECT_EQ(timing.work.samples, kLeastSamples);
  EXPECT_EQ(timing.base.samples, kLeastSamples);
}

TEST(Timing, ARatioIsTheWorksTimeOverTheBases) {
  const auto sleep = [](int milliseconds) {
    return [=] { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); };
  };
  EXPECT_GT(time_beside(sleep(20), sleep(0), 0).ratio, 1);
}

}  // namespace
}  // namespace heed
