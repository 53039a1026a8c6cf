// Reports and comparisons as lines for people. Every text ends with a line end, and none can steer a terminal, whatever
// a file's names hold.
#pragma once

#include <string>

#include "heed/tasks/bench/bench_comparison.h"
#include "heed/tasks/bench/bench_filter.h"
#include "heed/tasks/bench/bench_report.h"

namespace heed {

// The machine and the settings, and the headings of the columns.
std::string bench_head_text(const BenchReport& report);
std::string bench_limit_text(const BenchLimit& limit);
std::string bench_row_text(const BenchRow& row);
// What the filter wants of a report.
std::string bench_text(const BenchReport& report, const BenchFilter& filter = BenchFilter());

std::string bench_comparison_text(const BenchComparison& comparison);

}  // namespace heed
