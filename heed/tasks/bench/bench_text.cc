#include "heed/tasks/bench/bench_text.h"

#include <fmt/format.h>

#include "heed/base/printable.h"

namespace heed {
namespace {

std::string time_text(double seconds) { return fmt::format("{:.3f} ms", seconds * 1e3); }
std::string rate_text(double rate, const std::string& unit) {
  return rate == 0 ? "-" : fmt::format("{:.1f} {}", rate, printable(unit, 16));
}
std::string share_text(double share) { return share == 0 ? "-" : fmt::format("{:.1f} %", share * 100); }

// Without the spaces of columns that are empty.
std::string line_of(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string columns(const std::string& name, const std::string& time, const std::string& calls, const std::string& rate,
                    const std::string& of_peak, const std::string& best, const std::string& of_limit,
                    const std::string& rest) {
  return line_of(fmt::format("{:<28} {:>12} {:>7} {:>15} {:>8} {:>8} {:>8}  {}", name, time, calls, rate, of_peak, best,
                             of_limit, rest));
}

std::string comparison_columns(const std::string& name, const std::string& before, const std::string& after,
                               const std::string& speed, const std::string& of_limit) {
  return line_of(fmt::format("{:<28} {:>18} {:>18} {:>8}  {}", name, before, after, speed, of_limit));
}

std::string change_text(const BenchChange& change) {
  const auto value = [&](double number) { return fmt::format("{:.3f} {}", number, printable(change.unit, 16)); };
  const bool has_limit = change.limit_before != 0 && change.limit_after != 0;
  const std::string shares =
      has_limit ? fmt::format("{} -> {}", share_text(change.limit_before), share_text(change.limit_after)) : "";
  return comparison_columns(printable(change.name), value(change.before), value(change.after),
                            fmt::format("{:.3f}", change.speed), shares);
}

}  // namespace

std::string bench_head_text(const BenchReport& report) {
  std::string text = fmt::format("heed {}, {}\n{}, {}, {} thread{}, {} s a row\n", printable(report.version),
                                 printable(report.benchmark), printable(report.processor), printable(report.target),
                                 report.threads, report.threads == 1 ? "" : "s", report.seconds);
  if (!report.forced_plan.empty()) text += fmt::format("HEED_PLAN={}\n", printable(report.forced_plan));
  if (!report.forced_target.empty()) text += fmt::format("HEED_TARGET={}\n", printable(report.forced_target));
  return text + columns("name", "median", "calls", "rate", "of peak", "at best", "of limit", "ratio, plan");
}

std::string bench_limit_text(const BenchLimit& limit) {
  return columns(printable(limit.name), "", "", rate_text(limit.rate, limit.unit), "", "", "",
                 printable(limit.note, 160));
}

std::string bench_row_text(const BenchRow& row) {
  if (!row.refused.empty())
    return columns(printable(row.name), "-", "-", "-", "-", "-", "-", printable(row.refused, 160));
  const std::string ratio = row.over.empty() ? "" : fmt::format("{:.2f} x {}, ", row.ratio, printable(row.over));
  return columns(printable(row.name), time_text(row.seconds), fmt::format("{}", row.samples),
                 rate_text(row.rate, row.unit), share_text(row.share_of_peak), share_text(row.best_share_of_peak()),
                 share_text(row.share_of_limit), ratio + printable(row.plan));
}

std::string bench_text(const BenchReport& report, const BenchFilter& filter) {
  std::string text = bench_head_text(report);
  for (const BenchLimit& limit : report.limits) {
    if (filter.wants(limit.name)) text += bench_limit_text(limit);
  }
  for (const BenchRow& row : report.rows) {
    if (filter.wants(row.name)) text += bench_row_text(row);
  }
  return text;
}

std::string bench_comparison_text(const BenchComparison& comparison) {
  std::string text;
  for (const std::string& difference : comparison.differences) text += fmt::format("differs: {}\n", difference);
  text += comparison_columns("name", "before", "after", "speed", "of limit");
  for (const BenchChange& limit : comparison.limits) text += change_text(limit);
  for (const BenchChange& row : comparison.rows) text += change_text(row);
  for (const std::string& name : comparison.only_before) text += fmt::format("only before: {}\n", printable(name));
  for (const std::string& name : comparison.only_after) text += fmt::format("only after: {}\n", printable(name));
  if (!comparison.rows.empty()) {
    text += fmt::format("speed, geometric mean of {} rows: {:.3f}\n", comparison.rows.size(), comparison.mean_speed());
  }
  return text;
}

}  // namespace heed
