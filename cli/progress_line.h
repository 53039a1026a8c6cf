// How far a long command is, on standard error: a line that is drawn again on a terminal, one every ten seconds
// elsewhere.
//
//   ProgressLine progress("sentence pairs", 100000);
//   progress.show(512);                            // [###.....] 512 of 100000 sentence pairs  2m03s left
#pragma once

#include <chrono>
#include <string>

#include "heed/base/index.h"

namespace heed::cli {

// "2h03m", "4m05s", "12s".
std::string duration(double seconds);
// "[######..................]", of a share from 0 to 1.
std::string progress_bar(double share);

// From one line to the next: on a terminal one is drawn again, elsewhere each stays.
double seconds_between_lines(bool terminal);

class ProgressLine {
 public:
  ProgressLine(std::string what, Index total);
  ~ProgressLine();  // ends the line that is drawn again
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(Index done);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  Index total_;
  bool terminal_, drawn_ = false;
  Clock::time_point begin_, last_shown_;
};

}  // namespace heed::cli
