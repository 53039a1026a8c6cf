#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/system_call.h"

namespace heed::cli {
namespace {

constexpr std::size_t kMessageBytes = 2000, kArgumentBytes = 1000;

bool g_progress_drawn = false;

void write_error(std::string_view text) { static_cast<void>(write_whole(STDERR_FILENO, text)); }

void remove_progress() {
  if (g_progress_drawn) write_error("\r\033[K");
  g_progress_drawn = false;
}

}  // namespace

// Not by the standard library's streams, which give up where a signal interrupts them.
void print(std::string_view text) {
  if (g_progress_drawn && ::isatty(STDOUT_FILENO) != 0) remove_progress();
  if (!write_whole(STDOUT_FILENO, text)) {
    throw Error(std::string("standard output: cannot write: ") + std::strerror(errno));
  }
}

void print_line(std::string_view text) { print(std::string(text) + '\n'); }

void print_message(std::string_view message) { print_progress("heed: " + printable(message, kMessageBytes) + "\n"); }

void print_out_of_memory() { print_progress("heed: out of memory\n"); }

void print_progress(std::string_view text) {
  remove_progress();
  write_error(text);
}

void draw_progress(std::string_view line) {
  remove_progress();
  write_error(line);
  g_progress_drawn = !line.empty();
}

std::string shown(std::string_view argument) { return printable(argument, kArgumentBytes); }

bool error_is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace heed::cli
