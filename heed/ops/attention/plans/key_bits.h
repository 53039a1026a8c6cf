// What a mask says about a row and up to 64 keys, a bit to a key.
#pragma once

#include <cstdint>

#include "heed/ops/attention/spec/mask.h"

namespace heed {

// Bit j is set where the mask allows row i key keys.begin + j.
inline std::uint64_t allowed_bits(const MaskRows& mask, Index b, Index h, Index i, Range keys) {
  if (mask.hull_is_exact()) {
    const Range inside = intersect(mask.keys(b, h, i), keys);
    return inside.empty() ? 0 : (~std::uint64_t{0} >> (64 - inside.size())) << (inside.begin - keys.begin);
  }
  std::uint8_t bytes[64];
  mask.fill(b, h, i, keys, bytes);
  std::uint64_t bits = 0;
  for (Index j = 0; j < keys.size(); ++j) bits |= std::uint64_t{bytes[j]} << j;
  return bits;
}

}  // namespace heed
