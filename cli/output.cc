#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "heed/base/error.h"

namespace heed::cli {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(std::string("standard output: cannot write: ") + std::strerror(errno));
  }
}

void print_line(std::string_view text) { print(std::string(text) + '\n'); }

bool error_is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace heed::cli
