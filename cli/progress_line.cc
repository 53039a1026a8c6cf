#include "progress_line.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "output.h"

namespace heed::cli {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr int kBarWidth = 24;

// "[######..................]", of a share from 0 to 1.
std::string bar(double share) {
  const int filled = static_cast<int>(share * kBarWidth);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
}

}  // namespace

std::string duration(double seconds) {
  const long s = std::lround(seconds);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return s >= 60 ? fmt::format("{}m{:02}s", s / 60, s % 60) : fmt::format("{}s", s);
}

PacedLines::PacedLines() : terminal_(error_is_terminal()), last_shown_(Clock::now()) {}

PacedLines::~PacedLines() {
  if (terminal_) draw_progress("");
}

bool PacedLines::is_due() {
  const Seconds between(terminal_ ? 0.2 : 10);
  const auto now = Clock::now();
  if (now - last_shown_ < between) return false;
  last_shown_ = now;
  return true;
}

void PacedLines::show(double share, std::string_view text) const {
  if (terminal_) {
    draw_progress(fmt::format("{}{}", share > 0 ? bar(share) : "", text));
  } else {
    print_progress(fmt::format("{}\n", text));
  }
}

ProgressLine::ProgressLine(std::string what, Index total)
    : what_(std::move(what)), total_(total), begin_(std::chrono::steady_clock::now()) {}

void ProgressLine::show(Index done) {
  if (done == 0 || done == total_ || !lines_.is_due()) return;  // at the end there is the answer
  const double spent = Seconds(std::chrono::steady_clock::now() - begin_).count();
  const double rate = static_cast<double>(done) / spent;
  const std::string speed = fmt::format("{:.{}f}/s", rate, rate < 10 ? 1 : 0);
  if (total_ == 0) return lines_.show(0, fmt::format("{} {}  {}", done, what_, speed));
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  const std::string left = duration(static_cast<double>(total_ - done) / rate);
  lines_.show(share, fmt::format("{} of {} {}  {}  {} left", done, total_, what_, speed, left));
}

}  // namespace heed::cli
