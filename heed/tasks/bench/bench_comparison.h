// Two reports of one benchmark, side by side.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/bench/bench_filter.h"
#include "heed/tasks/bench/bench_report.h"

namespace heed {

// A limit or a row that both have.
struct BenchChange {
  std::string name{}, unit{};                // ms, or a limit's
  double before = 0, after = 0;              // in the unit
  double speed = 1;                          // above 1: faster than before
  double limit_before = 0, limit_after = 0;  // a row's shares of its limit; 0: it has none
};

struct BenchComparison {
  std::vector<BenchChange> limits{}, rows{};
  std::vector<std::string> only_before{},
      only_after{};                        // names; also of what the other one refused or could not measure
  std::vector<std::string> differences{};  // of the conditions: "threads: 2 before, 4 after"

  // The geometric mean of the rows' speeds; 1 of none.
  double mean_speed() const;
};

// Throws heed::Error where they are of two benchmarks, or have nothing in common that the filter wants.
BenchComparison compare_bench_reports(const BenchReport& before, const BenchReport& after,
                                      const BenchFilter& filter = BenchFilter());

}  // namespace heed
