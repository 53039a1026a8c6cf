// Reports of benchmarks: what was read and is written again reads the same, and is written with the same bytes; it can
// be shown, and compared with itself.
#include "heed/tasks/bench/bench_report.h"

#include "heed/tasks/bench/bench_text.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_bench_report(std::string_view text) {
  const auto report = taken([&] { return parse_bench_report(text, "input"); });
  if (!report) return;
  const std::string written = bench_report_text(*report);
  const BenchReport again = parse_bench_report(written, "written");
  require(again == *report, "what is written reads the same");
  require(bench_report_text(again) == written, "the same report is the same bytes");
  bench_text(*report);
  const auto comparison = taken([&] { return compare_bench_reports(*report, again); });
  if (comparison) bench_comparison_text(*comparison);
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_bench_report(heed::fuzz::bytes_of(data, size));
  return 0;
}
