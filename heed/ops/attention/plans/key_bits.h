// What a mask says about a row and up to 64 keys, a bit to a key.
#pragma once

#include <cstdint>

#include "heed/ops/attention/spec/mask.h"

namespace heed {

// Bit j is set where key keys.begin + j is one of the hull.
inline std::uint64_t bits_within(Range hull, Range keys) {
  const Range inside = intersect(hull, keys);
  return inside.empty() ? 0 : (~std::uint64_t{0} >> (64 - inside.size())) << (inside.begin - keys.begin);
}

// Bit j is set where the mask allows row i key keys.begin + j.
inline std::uint64_t allowed_bits(const MaskRows& mask, Index b, Index h, Index i, Range keys) {
  std::uint64_t bits = bits_within(mask.keys(b, h, i), keys);
  mask.refuse_within_hulls(b, h, {i, i + 1}, keys, &bits);
  return bits;
}

}  // namespace heed
