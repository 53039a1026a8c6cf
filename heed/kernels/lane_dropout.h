// Which weights of a block of keys dropout keeps, drawn with a query to each SIMD lane.
#pragma once

#include <cstdint>

#include "heed/base/index.h"

namespace heed::kernels {

// The words of AttentionLanes::kept for keys [first_key, first_key + keys), kLaneKeys at most: key j of row i is kept
// where its 16 bits (attention_dropout_bits) are at least the threshold, below 2^16. first_key is a multiple of 8.
void dropout_lanes(std::uint64_t seed, std::uint64_t stream, Index first_row, Index lanes, Index first_key, Index keys,
                   std::uint32_t threshold, std::uint32_t* kept);

}  // namespace heed::kernels
