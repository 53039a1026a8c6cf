#include "onnx.h"

#include <algorithm>

#include "case.h"
#include "compare.h"
#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "operators.h"

namespace heed::conformance {
namespace {

namespace fs = std::filesystem;

std::string label(const Case::Value& output, std::size_t i) {
  return output.name.empty() ? fmt::format("output {}", i) : fmt::format("output {} ({})", i, printable(output.name));
}

// What differs in the case, output by output; empty where nothing does.
std::string run_case(const fs::path& folder) {
  const Case c(folder);
  const Operator run = find_operator(c.domain(), c.op());
  if (run == nullptr) throw Skip(fmt::format("heed has no operator {}", printable(c.op())));
  const Outputs outputs = run(c);
  std::string wrong;
  for (std::size_t i = 0; i < c.outputs().size(); ++i) {
    const std::optional<Case::Value>& expected = c.outputs()[i];
    if (!expected) continue;
    HEED_CHECK(i < outputs.size() && !outputs[i].elements.is_empty(), "{} is not one that heed's {} gives",
               label(*expected, i), c.op());
    const std::string differs = difference(outputs[i], expected->array, c.rtol(), c.atol());
    if (!differs.empty()) wrong += fmt::format("{}{} {}", wrong.empty() ? "" : "; ", label(*expected, i), differs);
  }
  return wrong;
}

std::vector<fs::path> case_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->path().filename() == "case.json" && entry->is_regular_file(unknown)) {
      folders.push_back(entry->path().parent_path());
    }
  }
  HEED_CHECK(!error, "{}: cannot read: {}", folder.string(), error.message());
  std::ranges::sort(folders);
  return folders;
}

}  // namespace

void run_onnx_cases(const fs::path& folder, Report& report) {
  for (const fs::path& one : case_folders(folder)) {
    const fs::path below = one.lexically_relative(folder);
    report.add(below == "." ? one.string() : below.string(), [&] { return run_case(one); });
  }
}

}  // namespace heed::conformance
