#include "heed/tasks/bench/bench_filter.h"

#include <regex>

#include "heed/base/check.h"

namespace heed {

struct BenchFilter::Pattern {
  std::regex regex;
};

BenchFilter::BenchFilter(const std::string& pattern) {
  // The standard library reads a pattern by recursion, and ends the process where the stack ends.
  HEED_CHECK(pattern.size() <= kLongestPattern, "must be a regular expression of at most {} bytes, but is {}",
             kLongestPattern, pattern);
  try {
    pattern_ = std::make_shared<const Pattern>(Pattern{std::regex(pattern)});
  } catch (const std::regex_error&) {  // whose text names the library's own constants
    fail("must be a regular expression, but is {}", pattern);
  }
}

bool BenchFilter::wants(std::string_view name) const {
  return std::regex_search(name.begin(), name.end(), pattern_->regex);
}

}  // namespace heed
