// The head of a report and the limits of this machine that its rows are held against: what all benchmarks share.
//
//   MeasuredLimits limits(report, options.seconds, listener);
//   limits.write_head("generation", version);
//   const BenchLimit read = limits.of(Limit::dram_read);
#pragma once

#include <functional>
#include <string>

#include "heed/tasks/bench/bench_report.h"
#include "heed/tasks/bench/machine_limits.h"

namespace heed {

// Told what has been found out so far, as it comes.
struct BenchListener {
  std::function<void(const BenchReport& head)> begun = [](const BenchReport&) {};
  std::function<void(const BenchLimit& limit)> limit = [](const BenchLimit&) {};
  std::function<void(const BenchRow& row)> row = [](const BenchRow&) {};
};

class MeasuredLimits {
 public:
  // Holds on to both.
  MeasuredLimits(BenchReport& report, double seconds, const BenchListener& listener)
      : report_(report), seconds_(seconds), listener_(listener) {}

  // Throws heed::Error where HEED_PLAN or HEED_TARGET is wrong.
  void write_head(const std::string& benchmark, const std::string& version);
  // Measured when it is first asked for. A copy: the next one may move the list.
  BenchLimit of(Limit limit);
  // What so much takes at a limit.
  double seconds_at(Limit limit, double amount);

 private:
  BenchReport& report_;
  double seconds_;
  const BenchListener& listener_;
};

}  // namespace heed
