#include "heed/ops/attention/spec/mask_pattern.h"

#include <algorithm>

#include "heed/kernels/byte_bits.h"
#include "heed/ops/attention/spec/key_bits.h"
#include "heed/ops/attention/spec/pattern_parts.h"

namespace heed {

void MaskPattern::check(const char*, const MaskShape&) const {}

Index MaskPattern::count(Index b, Index h, Query query, Range keys) const {
  Index count = 0;
  for (Index j = keys.begin; j < keys.end; ++j) count += allows(b, h, query, j);
  return count;
}

TileCover MaskPattern::cover(Index b, Index h, Query first, Index rows, Range keys) const {
  return cover_of_rows(*this, b, h, first, rows, keys, [](Index r) { return r + 1; });
}

void MaskPattern::refuse(Index b, Index h, Query query, Range keys, std::uint8_t* allowed) const {
  for (Index j = keys.begin; j < keys.end; ++j) {
    std::uint8_t& bit = allowed[j - keys.begin];
    if (bit != 0 && !allows(b, h, query, j)) bit = 0;
  }
}

void MaskPattern::refuse_bits(Index b, Index h, Query first, Index rows, Range keys, std::uint64_t* allowed) const {
  const std::uint64_t all = bits_within(keys, keys);
  for (Index r = 0; r < rows; ++r) {
    if (allowed[r] == 0) continue;
    std::uint8_t bytes[64];
    if (allowed[r] == all) {
      std::fill_n(bytes, 64, std::uint8_t{1});
    } else {
      for (Index n = 0; n < 64; ++n) bytes[n] = allowed[r] >> n & 1;
    }
    refuse(b, h, {first.row + r, first.position + r}, keys, bytes);
    kernels::keep_set_bytes(1, keys.size(), bytes, 0, allowed + r);
  }
}

}  // namespace heed
