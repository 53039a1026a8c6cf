// What became of each case: a line for each that failed or was left out, and the counts.
#pragma once

#include <functional>
#include <string>

#include "heed/base/index.h"

namespace heed::conformance {

class Report {
 public:
  // Runs one case, which returns what was wrong (empty: nothing), and prints a line unless it passed. What `run` throws
  // counts too: Skip is a case left out, anything else a failure.
  void add(const std::string& name, const std::function<std::string()>& run);

  // Prints "N passed, N failed, N skipped".
  void print_counts() const;
  // A case was found, and none failed.
  bool good() const { return failed_ == 0 && passed_ + skipped_ > 0; }

 private:
  Index passed_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace heed::conformance
