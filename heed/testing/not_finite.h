// What is no finite number.
#pragma once

#include <limits>

namespace heed::testing {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

}  // namespace heed::testing
