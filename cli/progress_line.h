// How far a long command is, on standard error: a line that is drawn again on a terminal, one every ten seconds
// elsewhere.
//
//   ProgressLine progress("sentence pairs", 100000);
//   progress.show(512);                            // [###.....] 512 of 100000 sentence pairs  43/s  2m03s left
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "heed/base/index.h"

namespace heed::cli {

// "2h03m", "4m05s", "12s".
std::string duration(double seconds);

// Lines that come faster than one reads them: shows the ones that are due.
class PacedLines {
 public:
  PacedLines();
  ~PacedLines();  // removes the one that is drawn
  PacedLines(const PacedLines&) = delete;
  PacedLines& operator=(const PacedLines&) = delete;

  // Whether the last one, or the beginning, was long enough ago. Then the next is to be shown.
  bool is_due();
  // On a terminal behind a bar of `share`, from 0 to 1; 0: without one.
  void show(double share, std::string_view text) const;

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  Clock::time_point last_shown_;
};

class ProgressLine {
 public:
  // `total` 0: nobody knows how much there is.
  ProgressLine(std::string what, Index total);

  void show(Index done);
  // The same, as what a long call tells its progress to.
  auto listener() {
    return [this](Index done) { show(done); };
  }

 private:
  std::string what_;
  Index total_;
  PacedLines lines_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace heed::cli
