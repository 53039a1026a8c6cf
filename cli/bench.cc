// heed bench
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "heed/base/error.h"
#include "heed/base/file_writer.h"
#include "heed/tasks/bench/bench_attention.h"
#include "heed/tasks/bench/bench_comparison.h"
#include "heed/tasks/bench/bench_generation.h"
#include "heed/tasks/bench/bench_text.h"
#include "numbers.h"
#include "option_names.h"
#include "output.h"
#include "output_files.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

// What can be measured.
struct Benchmark {
  std::string_view name;
  std::vector<std::string> (*names)();
  BenchReport (*run)(const BenchFilter& filter, double seconds, const BenchListener& listener);
};

constexpr Benchmark kBenchmarks[] = {
    {"attention", attention_bench_names,
     [](const BenchFilter& filter, double seconds, const BenchListener& listener) {
       return bench_attention({.filter = filter, .seconds = seconds, .version = HEED_VERSION}, listener);
     }},
    {"generation", generation_bench_names,
     [](const BenchFilter& filter, double seconds, const BenchListener& listener) {
       return bench_generation({.filter = filter, .seconds = seconds, .version = HEED_VERSION}, listener);
     }},
};

struct BenchCommand {
  std::string what = "attention", filter;
  std::optional<std::string> compare, json;
  double seconds = 1;
  bool list = false;
};

// The names that the filter matches, of which there must be one.
std::vector<std::string> chosen_names(const Benchmark& benchmark, const BenchFilter& filter) {
  std::vector<std::string> names = benchmark.names();
  std::erase_if(names, [&](const std::string& name) { return !filter.wants(name); });
  if (names.empty()) throw CLI::ValidationError("--filter", "matches no name: see heed bench --list");
  return names;
}

BenchReport measure(const Benchmark& benchmark, const BenchCommand& command, const BenchFilter& filter) {
  const Index names = std::ssize(chosen_names(benchmark, filter));
  const bool prints = command.json == "-";
  // Opened first: a file that cannot be written is known before anything is measured.
  std::optional<FileWriter> file;
  if (command.json && !prints) file.emplace(*command.json);
  // Where the report is printed, what is read meanwhile goes beside it.
  const auto tell = [&](const std::string& text) { prints ? print_progress(text) : print(text); };
  ProgressLine progress("rows", names);
  Index rows = 0;
  BenchReport report = benchmark.run(filter, command.seconds,
                                     {.begun = [&](const BenchReport& head) { tell(bench_head_text(head)); },
                                      .limit = [&](const BenchLimit& limit) { tell(bench_limit_text(limit)); },
                                      .row =
                                          [&](const BenchRow& row) {
                                            tell(bench_row_text(row));
                                            progress.show(++rows);
                                          }});
  if (prints) print(bench_report_text(report));
  if (file) {
    file->write(bench_report_text(report));
    file->commit();
  }
  return report;
}

void run(const BenchCommand& command, const CLI::App& sub) {
  const auto benchmark = std::ranges::find(kBenchmarks, std::string_view(command.what), &Benchmark::name);
  const bool file = benchmark == std::end(kBenchmarks);
  for (const char* option : {"--json", "--seconds", "--list"}) {
    if (file && was_given(sub, option))
      throw CLI::ValidationError(option, "goes with attention or generation, not with a file");
  }
  const BenchFilter filter(command.filter);
  if (command.list) {
    for (const std::string& name : chosen_names(*benchmark, filter)) print_line(name);
    return;
  }
  if (command.json == "-" && command.compare) throw CLI::ValidationError("--json", "- does not go with --compare");
  check_outputs({{"--json", command.json == "-" ? "" : command.json.value_or("")}},
                {{"--compare", command.compare.value_or("")}});
  std::optional<BenchReport> before;
  if (command.compare) before = read_bench_report(*command.compare);
  const BenchReport report = file ? read_bench_report(command.what) : measure(*benchmark, command, filter);
  if (!before) {
    if (file) print(bench_text(report, filter));
    return;
  }
  if (!file) print_line("");
  print(bench_comparison_text(compare_bench_reports(*before, report, filter)));
}

std::string check_filter(const std::string& pattern) {
  try {
    BenchFilter{pattern};
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

void add_bench_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("bench", "Measure speed beside what this machine can do.");
  auto command = std::make_shared<BenchCommand>();
  sub->add_option("what", command->what,
                  "attention or generation, which are measured, or a report that --json has written.")
      ->capture_default_str();
  sub->add_option("--filter", command->filter, "Only what a regular expression finds in the names.")
      ->check(check_filter);
  add_number(*sub, "--seconds", command->seconds, "How long each limit and row is timed.", NumberRange::above(0));
  sub->add_option("--compare", command->compare, "A report from before: print how many times as fast each row is now.");
  sub->add_option("--json", command->json,
                  "Write the report to this file; - prints it, and the table goes to standard error.");
  sub->add_flag("--list", command->list, "Print the names and measure nothing.");
  sub->footer(
      "A row is the median of calls for so many seconds, of five at least, after a warm-up; a limit is the\n"
      "fastest of them. Rates count a multiply-add as two operations, half of all where a row is causal, and\n"
      "3.5 times the forward pass's for training. \"Of peak\" is a row's rate over that of multiply-adds alone\n"
      "(decode, tokens: of reading memory; additive: of tanh), \"at best\" that of its fastest call, whatever else\n"
      "the machine did meanwhile; \"of limit\" is what its multiply-adds, exp and tanh take one after the other at\n"
      "the limits (decode: reading its keys and values, timed in turn with it), over what it took. A ratio is over\n"
      "a base that was timed in turn with it.\n"
      "Nothing else should run meanwhile; all rows together take some minutes.\n"
      "Examples:\n  heed bench attention --filter '^forward/|decode' --threads 2 --json before.json\n"
      "  heed bench attention --filter '^forward/' --compare before.json\n"
      "  heed bench after.json --compare before.json");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
