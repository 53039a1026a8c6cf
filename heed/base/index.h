// The type of every size, extent and position.
#pragma once

#include <cstdint>

namespace heed {

using Index = std::int64_t;

}  // namespace heed
