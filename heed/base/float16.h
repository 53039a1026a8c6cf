// The two 16-bit storage types, and their conversions to and from float. Arithmetic is never done in them.
#pragma once

#include <cstdint>

namespace heed {

// The upper half of a float: 8 exponent bits, 7 of fraction.
struct BFloat16 {
  std::uint16_t bits;
  friend bool operator==(BFloat16, BFloat16) = default;
};

// IEEE 754 binary16: 5 exponent bits, 10 of fraction.
struct Float16 {
  std::uint16_t bits;
  friend bool operator==(Float16, Float16) = default;
};

// Exact.
float to_float(BFloat16 value);
float to_float(Float16 value);
// Rounds to nearest, ties to even; overflow becomes infinity; a NaN stays a (quiet) NaN.
BFloat16 to_bfloat16(float value);
Float16 to_float16(float value);

}  // namespace heed
