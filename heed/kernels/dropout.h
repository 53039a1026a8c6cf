// Dropout on f32 arrays, with the random bits made on the way.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

// Element i draws 16 bits: half i % 2 (the lower first) of word (i % 8) / 2 of philox(seed, stream, i / 8). It is kept
// where they are at least the threshold, from 0 (all) to 65536 (none).
struct DropoutRule {
  std::uint64_t seed;
  std::uint64_t stream;
  std::uint32_t threshold;
  float scale;  // of what is kept
};

// y_i = residual_i + (x_i scale where kept, else 0), for the elements first + i of the whole array; first is a multiple
// of 8. A null residual is zero. y may be x or residual.
void dropout(const DropoutRule& rule, std::uint64_t first, const float* x, const float* residual, float* y,
             std::size_t n);

// bits_i = the 16 bits of element first + i, for i < n; first is a multiple of 8.
void dropout_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::uint16_t* bits, std::size_t n);

}  // namespace heed::kernels
