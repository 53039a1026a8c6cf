// How a row of f32 becomes whole numbers of 24 bits (digit_rows.h): kernels' .cc files alone.
#pragma once

#include "heed/kernels/digit_target.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <algorithm>
#include <bit>
#include <cstdint>

#include "heed/base/index.h"

namespace heed::kernels {

// Digits go from -128 to 127, so that the largest number is 127 in each.
inline constexpr std::int32_t kDigitBias = 0x808080;
inline constexpr std::uint32_t kInfinite = 0x7F800000, kMagnitude = 0x7FFFFFFF;

HEED_DIGIT_INLINE __mmask16 first_lanes(Index count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFF : (1u << std::max<Index>(count, 0)) - 1);
}

// The exponent of the unit for a row of which the largest magnitude has these bits.
inline int unit_exponent(std::uint32_t largest) {
  constexpr int kBiasOfHalves = 149, kLeast = -126;  // a float is its significand, of 24 bits, times 2^(exponent - 150)
  constexpr std::uint32_t kMostSignificand = 2 * 0x7F7F7F;
  const int exponent = static_cast<int>(largest >> 23);
  const std::uint32_t significand = (largest & 0x7FFFFF) | 0x800000;
  return std::max(exponent - kBiasOfHalves + (significand > kMostSignificand ? 1 : 0), kLeast);
}

inline float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

HEED_DIGIT_INLINE __m512i magnitude_bits(__m512 numbers) {
  return _mm512_and_si512(_mm512_castps_si512(numbers), _mm512_set1_epi32(kMagnitude));
}

HEED_DIGIT_INLINE std::uint32_t largest_of(__m512i words) {
  const __m256i eight = _mm256_max_epu32(_mm512_maskz_extracti64x4_epi64(kEights, words, 0),
                                         _mm512_maskz_extracti64x4_epi64(kEights, words, 1));
  const __m128i four = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4E));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_max_epu32(two, _mm_shuffle_epi32(two, 0xB1))));
}

// In units, to the nearest.
HEED_DIGIT_INLINE __m512i whole_numbers(__m512 numbers, __m512 inverse_unit) {
  return _mm512_maskz_cvtps_epi32(kWords, _mm512_mul_ps(numbers, inverse_unit));
}

// Their digits, from the lowest byte of each word on; the fourth means nothing.
HEED_DIGIT_INLINE __m512i digits_of(__m512i numbers) {
  const __m512i bias = _mm512_set1_epi32(kDigitBias);
  return _mm512_xor_si512(_mm512_add_epi32(numbers, bias), bias);
}

}  // namespace heed::kernels

#endif
