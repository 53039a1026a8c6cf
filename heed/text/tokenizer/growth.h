// A bound on what a file's rules may make of a text.
#pragma once

#include <cstddef>
#include <string_view>

#include "heed/base/check.h"

namespace heed {

// Throws heed::Error where a text has become so much longer that its rules can only be meant to fill the memory: any
// that are in use make a character 18 of them at most, a few times over.
inline void check_growth(std::size_t made, std::size_t given, std::string_view rules) {
  constexpr std::size_t kMostTimes = 1024, kAnyText = std::size_t{1} << 16;
  HEED_CHECK(made / kMostTimes <= given + kAnyText / kMostTimes, "{}: {} bytes become {}", rules, given, made);
}

}  // namespace heed
