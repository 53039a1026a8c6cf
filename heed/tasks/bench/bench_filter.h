// Which rows of a benchmark are wanted, by their names.
//
//   if (BenchFilter("^bf16-|decode").wants(row.name)) time(row);
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

class BenchFilter {
 public:
  static constexpr std::size_t kLongestPattern = 1000;
  // A regular expression in ECMAScript's grammar, looked for anywhere in a name; an empty one wants everything. Throws
  // heed::Error where it is none, or longer than kLongestPattern.
  explicit BenchFilter(const std::string& pattern = {});

  bool wants(std::string_view name) const;

 private:
  struct Pattern;  // <regex> is large
  std::shared_ptr<const Pattern> pattern_;
};

}  // namespace heed
