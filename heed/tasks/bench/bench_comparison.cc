#include "heed/tasks/bench/bench_comparison.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

bool measured(const BenchLimit& limit) { return limit.rate > 0; }
bool measured(const BenchRow& row) { return row.refused.empty(); }

BenchChange change_of(const BenchLimit& before, const BenchLimit& after) {
  return {.name = after.name,
          .unit = after.unit,
          .before = before.rate,
          .after = after.rate,
          .speed = after.rate / before.rate};
}

BenchChange change_of(const BenchRow& before, const BenchRow& after) {
  return {.name = after.name,
          .unit = "ms",
          .before = before.seconds * 1e3,
          .after = after.seconds * 1e3,
          .speed = before.seconds / after.seconds,
          .limit_before = before.share_of_limit,
          .limit_after = after.share_of_limit};
}

// The entry of this name where it was measured, else null.
template <typename Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() || !measured(*found) ? nullptr : &*found;
}

template <typename Entry>
std::vector<BenchChange> changes(const std::vector<Entry>& before, const std::vector<Entry>& after,
                                 const BenchFilter& filter, BenchComparison& comparison) {
  std::vector<BenchChange> both;
  for (const Entry& entry : before) {
    if (!filter.wants(entry.name) || !measured(entry)) continue;
    const Entry* const later = find(after, entry.name);
    later != nullptr ? both.push_back(change_of(entry, *later)) : comparison.only_before.push_back(entry.name);
  }
  for (const Entry& entry : after) {
    if (!filter.wants(entry.name) || !measured(entry)) continue;
    if (find(before, entry.name) == nullptr) comparison.only_after.push_back(entry.name);
  }
  return both;
}

template <typename T>
void note_difference(const char* what, const T& before, const T& after, BenchComparison& comparison) {
  if (before == after) return;
  const auto shown = [](const T& value) {
    const std::string text = printable(fmt::format("{}", value));
    return text.empty() ? std::string("none") : text;
  };
  comparison.differences.push_back(fmt::format("{}: {} before, {} after", what, shown(before), shown(after)));
}

}  // namespace

double BenchComparison::mean_speed() const {
  double sum = 0;
  for (const BenchChange& row : rows) sum += std::log(row.speed);
  return rows.empty() ? 1 : std::exp(sum / static_cast<double>(rows.size()));
}

BenchComparison compare_bench_reports(const BenchReport& before, const BenchReport& after, const BenchFilter& filter) {
  HEED_CHECK(before.benchmark == after.benchmark, "the reports are of two benchmarks: {} before, {} after",
             printable(before.benchmark), printable(after.benchmark));
  BenchComparison comparison;
  comparison.limits = changes(before.limits, after.limits, filter, comparison);
  comparison.rows = changes(before.rows, after.rows, filter, comparison);
  HEED_CHECK(!comparison.limits.empty() || !comparison.rows.empty(), "the reports have nothing in common to compare");
  note_difference("heed", before.version, after.version, comparison);
  note_difference("processor", before.processor, after.processor, comparison);
  note_difference("SIMD target", before.target, after.target, comparison);
  note_difference("threads", before.threads, after.threads, comparison);
  note_difference("seconds a row", before.seconds, after.seconds, comparison);
  note_difference("HEED_PLAN", before.forced_plan, after.forced_plan, comparison);
  note_difference("HEED_TARGET", before.forced_target, after.forced_target, comparison);
  return comparison;
}

}  // namespace heed
