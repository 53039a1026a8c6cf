#include "progress_line.h"

#include <fmt/core.h>

#include <cmath>

#include "output.h"

namespace heed::cli {
namespace {

constexpr int kBarWidth = 24;

}  // namespace

std::string duration(double seconds) {
  const long s = std::lround(seconds);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return s >= 60 ? fmt::format("{}m{:02}s", s / 60, s % 60) : fmt::format("{}s", s);
}

double seconds_between_lines(bool terminal) { return terminal ? 0.2 : 10; }

std::string progress_bar(double share) {
  const int filled = static_cast<int>(share * kBarWidth);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "]";
}

ProgressLine::ProgressLine(std::string what, Index total)
    : what_(std::move(what)),
      total_(total),
      terminal_(error_is_terminal()),
      begin_(Clock::now()),
      last_shown_(begin_) {}

ProgressLine::~ProgressLine() {
  if (drawn_) print_progress("\n");
}

void ProgressLine::show(Index done) {
  const auto now = Clock::now();
  const double waited = std::chrono::duration<double>(now - last_shown_).count();
  if (waited < seconds_between_lines(terminal_)) return;
  last_shown_ = now;
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  const double spent = std::chrono::duration<double>(now - begin_).count();
  const std::string text =
      fmt::format("{} of {} {}  {} left", done, total_, what_, duration(spent * (1 - share) / share));
  print_progress(terminal_ ? fmt::format("\r\033[K{} {}", progress_bar(share), text) : text + "\n");
  drawn_ = terminal_;
}

}  // namespace heed::cli
