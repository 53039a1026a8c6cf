#include "heed/tasks/bench/bench_attention.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tasks/bench/attention_rows.h"
#include "heed/tasks/bench/timing.h"

namespace heed {
namespace {

// The thread count while it lives; 0 leaves it.
class Threads {
 public:
  explicit Threads(int threads) : before_(thread_count()) {
    if (threads != 0) set_thread_count(threads);
  }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

class AttentionRun {
 public:
  AttentionRun(const AttentionBenchOptions& options, const BenchListener& listener)
      : options_(options), listener_(listener), limits_(report_, options.seconds, listener) {}

  BenchReport report() {
    const std::vector<AttentionRow> rows = chosen_rows();
    limits_.write_head("attention", options_.version);
    for (const auto& [name, limit] : kLimitNames) {
      if (options_.filter.wants(name)) limits_.of(limit);
    }
    for (const AttentionRow& row : rows) {
      report_.rows.push_back(measure(row));
      listener_.row(report_.rows.back());
    }
    return std::move(report_);
  }

 private:
  std::vector<AttentionRow> chosen_rows() const {
    std::vector<AttentionRow> rows = attention_rows(thread_count());
    std::erase_if(rows, [&](const AttentionRow& row) { return !options_.filter.wants(row.name); });
    const bool any_limit =
        std::ranges::any_of(kLimitNames, [&](const auto& entry) { return options_.filter.wants(entry.first); });
    HEED_CHECK(any_limit || !rows.empty(), "the filter matches the name of no limit and of no row");
    return rows;
  }

  void hold_against_limits(const AttentionSide& side, const AttentionWork& work, BenchRow& row) {
    const Limit multiply_add = multiply_add_limit(side.shape.dtype);
    const bool additive = work.tanhs > work.exponentials;
    const Limit peak = side.from_memory ? Limit::dram_read : additive ? Limit::tanh : multiply_add;
    const double amount = side.from_memory ? work.bytes : additive ? work.tanhs : work.operations;
    const BenchLimit limit = limits_.of(peak);
    row.peak = limit.name, row.unit = limit.unit;
    row.rate = amount / row.seconds / kGiga;
    row.share_of_peak = row.rate / limit.rate;
    if (side.from_memory) {
      row.share_of_limit = 1 / row.ratio;  // memory's rate is another in a minute: it was read in turn with the row
      return;
    }
    const double least = limits_.seconds_at(multiply_add, work.operations) +
                         limits_.seconds_at(Limit::exp, work.exponentials) +
                         limits_.seconds_at(Limit::tanh, work.tanhs);
    row.share_of_limit = least / row.seconds;
  }

  void time_with_base(const AttentionRow& of, const AttentionCase& problem, const std::function<void()>& work,
                      BenchRow& row) const {
    AttentionCase base = of.base->make();
    const double share = of.of_allowed_pairs ? problem.allowed_share() : 1;
    write_times(time_beside(work, runner(base, of.base->threads), options_.seconds), of.over, share, row);
  }

  static std::function<void()> runner(AttentionCase& problem, int threads) {
    return [&problem, threads] {
      const Threads count(threads);
      problem.run();
    };
  }

  BenchRow measure(const AttentionRow& of) {
    BenchRow row{.name = of.name};
    std::optional<AttentionCase> problem;
    try {
      problem.emplace(of.side.make());
      row.plan = problem->plan();
    } catch (const Error& error) {  // by HEED_PLAN
      row.refused = error.what();
      return row;
    }
    const std::function<void()> work = runner(*problem, of.side.threads);
    if (of.base) {
      time_with_base(of, *problem, work, row);
    } else if (of.side.from_memory) {
      const auto read = [&] { problem->read_keys(); };
      write_times(time_beside(work, read, options_.seconds), "reading its keys and values", 1, row);
    } else {
      write_times(time_work(work, options_.seconds), row);
    }
    const AttentionWork done = problem->work();
    row.operations = done.operations, row.exponentials = done.exponentials, row.tanhs = done.tanhs;
    row.bytes = done.bytes;
    if (of.side.threads == 0) hold_against_limits(of.side, done, row);  // which are those of all threads
    return row;
  }

  const AttentionBenchOptions& options_;
  const BenchListener& listener_;
  BenchReport report_;
  MeasuredLimits limits_;
};

}  // namespace

std::vector<std::string> attention_bench_names() {
  std::vector<std::string> names;
  for (const auto& [name, limit] : kLimitNames) names.emplace_back(name);
  for (const AttentionRow& row : attention_rows(thread_count())) names.push_back(row.name);
  return names;
}

BenchReport bench_attention(const AttentionBenchOptions& options, const BenchListener& listener) {
  return AttentionRun(options, listener).report();
}

}  // namespace heed
