// Up to 64 keys as the bits of a word.
#pragma once

#include <cstdint>

#include "heed/ops/attention/spec/mask_pattern.h"

namespace heed {

// Bit j is set where key keys.begin + j is one of the hull.
inline std::uint64_t bits_within(Range hull, Range keys) {
  const Range inside = intersect(hull, keys);
  return inside.empty() ? 0 : (~std::uint64_t{0} >> (64 - inside.size())) << (inside.begin - keys.begin);
}

}  // namespace heed
