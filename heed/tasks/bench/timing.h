// How long work takes: the median of many calls, after a warm-up.
//
//   const Timing timing = time_work([&] { attention(q, k, v, spec, result, workspace); }, 1.0);
#pragma once

#include <functional>
#include <string_view>

#include "heed/base/index.h"
#include "heed/tasks/bench/bench_report.h"

namespace heed {

// However long a call takes, so many of them are timed.
inline constexpr Index kLeastSamples = 5;
// Rates are counted in it: GB and GFLOP a second.
inline constexpr double kGiga = 1e9;

struct Timing {
  double seconds = 0;  // the median of the samples
  double fastest = 0;
  Index samples = 0;
};

// Times one call after the other until `seconds` have passed; before that the work runs untimed, for a tenth of them
// and at least once.
Timing time_work(const std::function<void()>& work, double seconds);

struct PairedTiming {
  Timing work, base;
  double ratio = 1;  // the median, over the pairs, of the work's time over the base's
};

// Times the two in turn, so that whatever the machine does meanwhile slows both; each for so many seconds.
PairedTiming time_beside(const std::function<void()>& work, const std::function<void()>& base, double seconds);

// Writes to a row how long its work took; and beside what, of which the work is such a share.
void write_times(const Timing& timing, BenchRow& row);
void write_times(const PairedTiming& timing, std::string_view over, double share, BenchRow& row);

}  // namespace heed
