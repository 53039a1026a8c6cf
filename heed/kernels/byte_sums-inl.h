// What the units of byte_rows.h have in common: kernels' .cc files alone.
#pragma once

#include "heed/kernels/byte_rows.h"
#include "heed/kernels/digit_split-inl.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

namespace heed::kernels {

inline constexpr Index kSumLanes = 16;
inline constexpr int kUsedPlaces = static_cast<int>(kDigits);

// What the digits of three places have summed up to, times the unit, in f32: no sum of digits is rounded before they
// are put together, but where it takes more than 24 bits.
HEED_DIGIT_INLINE __m512 floats_of(__m512i high, __m512i middle, __m512i low, float unit) {
  const auto in_f32 = [](__m512i x) HEED_DIGIT_TARGET { return _mm512_maskz_cvtepi32_ps(kWords, x); };
  const __m512 lower = _mm512_fmadd_ps(in_f32(middle), _mm512_set1_ps(256), in_f32(low));
  return _mm512_mul_ps(_mm512_fmadd_ps(in_f32(high), _mm512_set1_ps(65536), lower), _mm512_set1_ps(unit));
}

// The scales of a block's rows, with zeros behind the last.
struct ByteScales {
  alignas(64) float of[kByteKeys];

  HEED_DIGIT_INLINE explicit ByteScales(const StoredRows& stored) {
    if (stored.scale_row != 1) {
      for (Index j = 0; j < kByteKeys; ++j) of[j] = j < stored.count ? stored.scales[j * stored.scale_row] : 0.0f;
      return;
    }
#pragma GCC unroll 4
    for (Index j = 0; j < kByteKeys; j += kSumLanes)
      _mm512_store_ps(of + j, _mm512_maskz_loadu_ps(first_lanes(stored.count - j), stored.scales + j));
  }
};

// Of sixteen keys: sums of the digits of R rows, of kBytePlaces places each.
template <int R>
HEED_DIGIT_INLINE void store_products(const __m512i (&sums)[kBytePlaces * R], Index rows, const float* units,
                                      const float* scales, float alpha, float* to, Index to_row) {
  const __m512 of_keys = _mm512_load_ps(scales), factor = _mm512_set1_ps(alpha);
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r, to += to_row) {
    if (r == rows) break;
    const __m512i* const of = sums + kBytePlaces * r;
    const __m512 products = floats_of(of[0], of[1], of[2], units[r]);
    _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_mul_ps(products, of_keys), factor));
  }
}

// A line of values of four keys in words, a number of each key in a word. Word 4 b + i of vector j is number
// 16 b + 4 j + i.
HEED_DIGIT_INLINE void quads_of(const std::int8_t* at, Index row, __m512i (&quads)[4]) {
  const auto line = [&](Index n) HEED_DIGIT_TARGET { return _mm512_loadu_si512(at + n * row); };
  constexpr __mmask64 kBytes = ~__mmask64{0};
  constexpr __mmask32 kHalfWords = ~__mmask32{0};
  const __m512i lower01 = _mm512_maskz_unpacklo_epi8(kBytes, line(0), line(1)),
                upper01 = _mm512_maskz_unpackhi_epi8(kBytes, line(0), line(1)),
                lower23 = _mm512_maskz_unpacklo_epi8(kBytes, line(2), line(3)),
                upper23 = _mm512_maskz_unpackhi_epi8(kBytes, line(2), line(3));
  quads[0] = _mm512_maskz_unpacklo_epi16(kHalfWords, lower01, lower23);
  quads[1] = _mm512_maskz_unpackhi_epi16(kHalfWords, lower01, lower23);
  quads[2] = _mm512_maskz_unpacklo_epi16(kHalfWords, upper01, upper23);
  quads[3] = _mm512_maskz_unpackhi_epi16(kHalfWords, upper01, upper23);
}

// The 64 sums of a row, in the order of quads_of().
HEED_DIGIT_INLINE void store_sums(const __m512 (&parts)[4], float* to) {
  constexpr int kEven = 0x88, kOdd = 0xDD;
  const auto blocks = [](__m512 x, __m512 y, int odd) HEED_DIGIT_TARGET {
    return odd != 0 ? _mm512_maskz_shuffle_f32x4(kWords, x, y, kOdd) : _mm512_maskz_shuffle_f32x4(kWords, x, y, kEven);
  };
  const __m512 even01 = blocks(parts[0], parts[1], 0), odd01 = blocks(parts[0], parts[1], 1),
               even23 = blocks(parts[2], parts[3], 0), odd23 = blocks(parts[2], parts[3], 1);
  _mm512_storeu_ps(to, blocks(even01, even23, 0));
  _mm512_storeu_ps(to + kSumLanes, blocks(odd01, odd23, 0));
  _mm512_storeu_ps(to + 2 * kSumLanes, blocks(even01, even23, 1));
  _mm512_storeu_ps(to + 3 * kSumLanes, blocks(odd01, odd23, 1));
}

}  // namespace heed::kernels

#endif
