// What a mask says about a row and up to 64 keys, a bit to a key.
#pragma once

#include <cstdint>
#include <cstring>

#include "heed/ops/attention/spec/mask.h"

namespace heed {

// Bit j is set where the mask allows row i key keys.begin + j.
inline std::uint64_t allowed_bits(const MaskRows& mask, Index b, Index h, Index i, Range keys) {
  if (mask.hull_is_exact()) {
    const Range inside = intersect(mask.keys(b, h, i), keys);
    return inside.empty() ? 0 : (~std::uint64_t{0} >> (64 - inside.size())) << (inside.begin - keys.begin);
  }
  std::uint8_t bytes[64] = {};
  mask.fill(b, h, i, keys, bytes);
  std::uint64_t bits = 0;
  for (int eight = 0; eight < 8; ++eight) {
    std::uint64_t word;
    std::memcpy(&word, bytes + 8 * eight, 8);
    // Byte n is 0 or 1 and goes to bit 56 + n: the product moves it by 56 - 7 n.
    bits |= (word * 0x0102040810204080u >> 56) << (8 * eight);
  }
  return bits;
}

}  // namespace heed
