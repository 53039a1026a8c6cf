// The type of every size, extent and position.
#pragma once

#include <cstdint>

namespace heed {

using Index = std::int64_t;

// The least multiple of `unit` from `value` up.
constexpr Index round_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }

}  // namespace heed
