// What a benchmark found out, as plain data: a file of JSON keeps it, and two of them can be compared.
//
//   write_bench_report("before.json", report);
//   const BenchReport before = read_bench_report("before.json");
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/fields.h"

namespace heed {

// How fast this machine does one thing, and nothing else.
struct BenchLimit {
  std::string name{};
  double rate = 0;     // 0: not measured, as the note says
  std::string unit{};  // GFLOP/s and GOP/s (a multiply-add is two), GB/s, or G/s of a function
  std::string note{};

  template <typename V>
  friend void visit_fields(BenchLimit& limit, V&& visit) {
    visit("name", limit.name, "Its name.");
    visit("rate", limit.rate, "How fast.", NumberRange::at_least(0));
    visit("unit", limit.unit, "What the rate counts.");
    visit("note", limit.note, "By which unit of the processor, or why not.");
  }
  friend bool operator==(const BenchLimit&, const BenchLimit&) = default;
};

// One piece of work. A number that it does not have is 0, a text empty.
struct BenchRow {
  std::string name{};
  std::string plan{};     // what computed it; of forward and backward where they differ: "linear + tiled"
  std::string refused{};  // why it was not computed
  double seconds = 0;     // the median
  double fastest = 0;     // seconds of the fastest sample
  Index samples = 0;
  double operations = 0, exponentials = 0, tanhs = 0, bytes = 0;  // what it does; a multiply-add is two operations
  std::string peak{}, unit{};                                     // the limit that its rate is a share of
  double rate = 0, share_of_peak = 0;
  double share_of_limit = 0;           // of what all that it does takes at the limits
  std::string over{};                  // what it was timed in turn with
  double base_seconds = 0, ratio = 0;  // ratio: see ratio_scale
  double ratio_scale = 0;  // the share of the base's work that this is: ratio = seconds / base_seconds / ratio_scale

  template <typename V>
  friend void visit_fields(BenchRow& row, V&& visit) {
    constexpr NumberRange kCount = NumberRange::at_least(0);
    visit("name", row.name, "Its name.");
    visit("plan", row.plan, "What computed it.");
    visit("refused", row.refused, "Why it was not computed.");
    visit("seconds", row.seconds, "The median.", kCount);
    visit("fastest", row.fastest, "Seconds of the fastest sample.", kCount);
    visit("samples", row.samples, "Of how many.", kCount);
    visit("operations", row.operations, "Two for each multiply-add.", kCount);
    visit("exponentials", row.exponentials, "Calls of exp.", kCount);
    visit("tanhs", row.tanhs, "Tanhs of the definition.", kCount);
    visit("bytes", row.bytes, "Read from memory.", kCount);
    visit("peak", row.peak, "The limit that the rate is a share of.");
    visit("unit", row.unit, "That of the peak.");
    visit("rate", row.rate, "How fast.", kCount);
    visit("share_of_peak", row.share_of_peak, "The rate over the peak's.", kCount);
    visit("share_of_limit", row.share_of_limit, "What it takes at the limits, over what it took.", kCount);
    visit("over", row.over, "What it was timed in turn with.");
    visit("base_seconds", row.base_seconds, "The median of that.", kCount);
    visit("ratio", row.ratio, "The median of the pairs' ratios, over the scale.", kCount);
    visit("ratio_scale", row.ratio_scale, "The share of the base's work that this is.", kCount);
  }
  friend bool operator==(const BenchRow&, const BenchRow&) = default;

  // The share of the peak of the fastest sample, as the peak is of a limit's fastest: other work on the machine takes
  // less from it than from the median.
  double best_share_of_peak() const { return fastest == 0 ? 0 : share_of_peak * seconds / fastest; }
};

struct BenchReport {
  static constexpr Index kFormat = 1;
  Index format = kFormat;
  std::string benchmark{}, version{};  // "attention"; heed's
  std::string processor{}, target{};   // as the system and Highway name them
  Index threads = 1;
  double seconds = 1;                          // of samples for a row
  std::string forced_plan{}, forced_target{};  // HEED_PLAN and HEED_TARGET
  std::vector<BenchLimit> limits{};
  std::vector<BenchRow> rows{};

  template <typename V>
  friend void visit_fields(BenchReport& report, V&& visit) {
    visit("heed_bench", report.format, "The format of this file.", NumberRange::from(kFormat, kFormat));
    visit("benchmark", report.benchmark, "What was measured.");
    visit("version", report.version, "heed's.");
    visit("processor", report.processor, "As the system names it.");
    visit("target", report.target, "The SIMD target in use.");
    visit("threads", report.threads, "How many computed.", NumberRange::at_least(1));
    visit("seconds", report.seconds, "Of samples for each row.", NumberRange::above(0));
    visit("forced_plan", report.forced_plan, "HEED_PLAN.");
    visit("forced_target", report.forced_target, "HEED_TARGET.");
    visit("limits", report.limits, "What the machine can do.");
    visit("rows", report.rows, "What was measured.");
  }
  friend bool operator==(const BenchReport&, const BenchReport&) = default;
};

// The file's text. The same report gives the same bytes.
std::string bench_report_text(const BenchReport& report);

// Reads it again. Throws heed::Error that names the file and the place where that is no such text: not JSON, JSON of
// something else, or numbers that no benchmark gives.
BenchReport parse_bench_report(std::string_view text, std::string_view name = "report");
BenchReport read_bench_report(const std::filesystem::path& path);

}  // namespace heed
