// Bytes that say yes or no, as bits.
#pragma once

#include <cstdint>

#include "heed/base/index.h"

namespace heed::kernels {

// Clears bit j of words[r] where byte j of row r is zero, 0 <= j < count <= 64, and the bits from `count` on. Rows are
// `stride` bytes apart.
void keep_set_bytes(Index rows, Index count, const std::uint8_t* bytes, Index stride, std::uint64_t* words);

}  // namespace heed::kernels
