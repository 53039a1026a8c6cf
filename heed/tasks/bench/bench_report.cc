#include "heed/tasks/bench/bench_report.h"

#include "heed/base/check.h"
#include "heed/base/file.h"

namespace heed {
namespace {

// What a filter is matched with is short: the standard library's matching takes stack for each byte.
void check_name(const std::string& name, const std::string& where) {
  constexpr std::size_t kLongest = 200;
  HEED_CHECK(!name.empty() && name.size() <= kLongest, "{}: name must have from 1 to {} bytes, but has {}", where,
             kLongest, name.size());
}

void check_rows(const BenchReport& report, std::string_view name) {
  check_ranges(report, name);
  for (std::size_t i = 0; i < report.limits.size(); ++i) {
    const std::string where = fmt::format("{}: limits[{}]", name, i);
    check_ranges(report.limits[i], where);
    check_name(report.limits[i].name, where);
  }
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const BenchRow& row = report.rows[i];
    const std::string where = fmt::format("{}: rows[{}]", name, i);
    check_ranges(row, where);
    check_name(row.name, where);
    HEED_CHECK((row.seconds > 0) == row.refused.empty(), "{}: must have either a time or a reason why not", where);
  }
}

}  // namespace

std::string bench_report_text(const BenchReport& report) { return to_json(report).dump(2) + "\n"; }

BenchReport parse_bench_report(std::string_view text, std::string_view name) {
  const Json json = Json::parse(text, name);
  HEED_CHECK(json.kind() == Json::Kind::object && json.has("heed_bench"), "{}: is no report of heed bench", name);
  BenchReport report;
  from_json(json, report);
  check_rows(report, name);
  return report;
}

BenchReport read_bench_report(const std::filesystem::path& path) {
  return parse_bench_report(read_file(path), path.string());
}

}  // namespace heed
