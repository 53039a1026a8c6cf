#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "heed/base/error.h"
#include "heed/base/printable.h"

namespace heed::cli {
namespace {

constexpr std::size_t kMessageBytes = 2000, kArgumentBytes = 1000;

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(std::string("standard output: cannot write: ") + std::strerror(errno));
  }
}

void print_line(std::string_view text) { print(std::string(text) + '\n'); }

void print_message(std::string_view message) {
  std::fprintf(stderr, "heed: %s\n", printable(message, kMessageBytes).c_str());
}

std::string shown(std::string_view argument) { return printable(argument, kArgumentBytes); }

bool error_is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace heed::cli
