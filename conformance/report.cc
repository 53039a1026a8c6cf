#include "report.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "case.h"
#include "heed/base/error.h"
#include "heed/base/printable.h"

namespace heed::conformance {
namespace {

// One line, whatever the text holds, to a standard output that may be closed or full.
void print_line(const std::string& text) {
  const std::string line = printable(text, 1000) + '\n';
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    throw Error(std::string("standard output: cannot write: ") + std::strerror(errno));
  }
}

}  // namespace

void Report::add(const std::string& name, const std::function<std::string()>& run) {
  std::string wrong, missing;
  try {
    wrong = run();
  } catch (const Skip& skip) {
    missing = skip.what();
  } catch (const Error& error) {
    wrong = error.what();
  } catch (const std::bad_alloc&) {
    wrong = "out of memory";
  } catch (const std::exception& error) {
    wrong = std::string("internal error: ") + error.what();
  }
  if (!wrong.empty()) {
    ++failed_;
    print_line(fmt::format("FAIL {}: {}", name, wrong));
  } else if (!missing.empty()) {
    ++skipped_;
    print_line(fmt::format("skip {}: {}", name, missing));
  } else {
    ++passed_;
  }
}

void Report::print_counts() const {
  print_line(fmt::format("{} passed, {} failed, {} skipped", passed_, failed_, skipped_));
}

}  // namespace heed::conformance
