// Attention's speed on this machine, held against what the machine can do: the limits first, then the rows.
//
//   const BenchReport report = bench_attention({.filter = BenchFilter("^forward/"), .seconds = 0.5});
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/bench/bench_filter.h"
#include "heed/tasks/bench/bench_report.h"
#include "heed/tasks/bench/measured_limits.h"

namespace heed {

struct AttentionBenchOptions {
  BenchFilter filter{};  // of limits and rows; a limit that a chosen row is held against is measured too
  double seconds = 1;    // of samples, for each limit and row
  std::string version{};
};

// The names of its limits and rows.
std::vector<std::string> attention_bench_names();

// Measures on thread_count() threads. Throws heed::Error where the filter wants nothing, and where HEED_PLAN or
// HEED_TARGET is wrong; a row that HEED_PLAN's plan cannot compute is reported as refused.
BenchReport bench_attention(const AttentionBenchOptions& options, const BenchListener& listener = {});

}  // namespace heed
