// Which rows of a benchmark are wanted, by their names.
//
//   if (BenchFilter("^bf16-|decode").wants(row.name)) time(row);
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

class Regex;

class BenchFilter {
 public:
  // A regular expression as tokenizers have them (heed/text/regex.h), looked for anywhere in a name; an empty one wants
  // everything. Throws heed::Error, which begins with "not a filter: ", where it is none, or too long.
  explicit BenchFilter(const std::string& pattern = {});

  bool wants(std::string_view name) const;

 private:
  std::shared_ptr<const Regex> pattern_;
};

}  // namespace heed
