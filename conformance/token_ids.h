// Ids of tokens in a case's JSON.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/io/json.h"

namespace heed::conformance {

// Throws heed::Error for what is no list of integers from 0 to kLargestId.
inline constexpr Index kLargestId = 1 << 24;
std::vector<std::int32_t> token_ids(const Json& list);

}  // namespace heed::conformance
