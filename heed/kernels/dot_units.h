// Units of the processor that multiply numbers of 16 or 8 bits and add the products in 32 bits: AMX's tiles and
// AVX-512's dot products. Highway 1.0.3 does not reach them.
//
//   for (const DotUnit& unit : bf16_units()) unit.multiply_adds(1 << 16);
#pragma once

#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed::kernels {

struct DotUnit {
  std::string_view name;
  // As multiply_adds() of machine_limits.h, by this unit: `steps`, at most 2^18, in each of its chains.
  Index (*multiply_adds)(Index steps);
};

// The units that this machine has for the type, the widest first. None where the SIMD target in use is less than
// AVX-512, which such a unit comes with.
std::vector<DotUnit> bf16_units();
std::vector<DotUnit> int8_units();

}  // namespace heed::kernels
