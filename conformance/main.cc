// heed-conformance: holds heed's operators against the cases of other projects.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/standard_streams.h"
#include "models.h"
#include "onnx.h"
#include "pytorch.h"
#include "tokenizers.h"

namespace {

constexpr int kFailure = 1, kWrongUsage = 2;

constexpr std::string_view kUsage =
    "Usage: heed-conformance DIR               run every ONNX case (case.json) at or below the folder\n"
    "       heed-conformance --pytorch FILE    run the Transformer layers' cases of the file\n"
    "       heed-conformance --models DIR      run the cases (cases.json) of every model at or below the folder\n"
    "       heed-conformance --models-bf16 DIR, --models-int8 DIR\n"
    "                                          the same with weights rounded to bf16 or int8, but for what is "
    "generated\n"
    "       heed-conformance --tokenizers DIR  run the texts (cases.jsonl) of every tokenizer at or below the folder\n"
    "       heed-conformance --help\n"
    "Prints a line for each case that fails or is skipped, then \"N passed, N failed, N skipped\".\n"
    "Exit code: 0, or 1 where a case failed or none was found, or 2 for wrong usage.\n";

int fail(std::string_view message, int code) {
  std::fprintf(stderr, "heed-conformance: %s\n", heed::printable(message, 1000).c_str());
  return code;
}

using Run = void (*)(const std::filesystem::path& place, heed::conformance::Report& report);

template <heed::Precision type>
void models(const std::filesystem::path& folder, heed::conformance::Report& report) {
  heed::conformance::run_model_cases(folder, type, report);
}

constexpr std::pair<std::string_view, Run> kKinds[] = {
    {"--pytorch", heed::conformance::run_pytorch_cases},      {"--models", models<heed::Precision::f32>},
    {"--models-bf16", models<heed::Precision::bf16>},         {"--models-int8", models<heed::Precision::int8>},
    {"--tokenizers", heed::conformance::run_tokenizer_cases},
};

int run(Run cases, const std::string& place) {
  heed::conformance::Report report;
  cases(place, report);
  report.print_counts();
  return report.good() ? 0 : kFailure;
}

}  // namespace

int main(int argc, char** argv) {
  heed::hold_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of writing, which is reported like any other
  const std::string first = argc > 1 ? argv[1] : "", second = argc > 2 ? argv[2] : "";
  if (argc == 2 && first == "--help") {
    std::fputs(kUsage.data(), stdout);
    return std::fflush(stdout) == 0 ? 0 : fail("cannot write to standard output", kFailure);
  }
  const auto kind = std::ranges::find(kKinds, std::string_view(first), &std::pair<std::string_view, Run>::first);
  const bool named = kind != std::end(kKinds);
  if (named ? argc != 3 || second.empty() : argc != 2 || first.empty() || first[0] == '-') {
    return fail("needs one folder, or a kind of cases and their place: see heed-conformance --help", kWrongUsage);
  }
  try {
    return named ? run(kind->second, second) : run(heed::conformance::run_onnx_cases, first);
  } catch (const heed::Error& error) {
    return fail(error.what(), kFailure);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kFailure);
  } catch (const std::exception& error) {
    return fail(std::string("internal error: ") + error.what(), kFailure);
  }
}
