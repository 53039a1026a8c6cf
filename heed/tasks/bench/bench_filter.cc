#include "heed/tasks/bench/bench_filter.h"

#include "heed/text/regex.h"

namespace heed {

BenchFilter::BenchFilter(const std::string& pattern)
    : pattern_(std::make_shared<const Regex>(pattern, "not a filter")) {}

bool BenchFilter::wants(std::string_view name) const { return pattern_->occurs_in(name); }

}  // namespace heed
