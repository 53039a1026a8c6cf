// Normal random numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/index.h"
#include "heed/base/random.h"

namespace heed::testing {

inline std::vector<float> random_floats(Index count, std::uint64_t seed, double spread = 1, double centre = 0) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(centre + spread * rng.normal());
  return values;
}

}  // namespace heed::testing
