// Words of 32 bits that change places in and among AVX-512's vectors: kernels' .cc files alone.
#pragma once

#include <hwy/detect_targets.h>

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

#define HEED_WORDS_INLINE __attribute__((target("avx512f,avx512bw"), always_inline)) inline

namespace heed::kernels {

// In its block e, row j of four becomes word 4 e + j of each. With masks of all words, for GCC 12 warns of what the
// forms without one leave undefined.
HEED_WORDS_INLINE void turn_blocks(__m512i& row0, __m512i& row1, __m512i& row2, __m512i& row3) {
  constexpr __mmask8 kPairs = 0xFF;
  constexpr __mmask16 kAll = 0xFFFF;
  const __m512i lower01 = _mm512_maskz_unpacklo_epi32(kAll, row0, row1),
                lower23 = _mm512_maskz_unpacklo_epi32(kAll, row2, row3),
                upper01 = _mm512_maskz_unpackhi_epi32(kAll, row0, row1),
                upper23 = _mm512_maskz_unpackhi_epi32(kAll, row2, row3);
  row0 = _mm512_maskz_unpacklo_epi64(kPairs, lower01, lower23);
  row1 = _mm512_maskz_unpackhi_epi64(kPairs, lower01, lower23);
  row2 = _mm512_maskz_unpacklo_epi64(kPairs, upper01, upper23);
  row3 = _mm512_maskz_unpackhi_epi64(kPairs, upper01, upper23);
}

// Row i of 16 rows of 16 words becomes word i of each.
HEED_WORDS_INLINE void turn_words(__m512i (&rows)[16]) {
  constexpr __mmask16 kAll = 0xFFFF;
#pragma GCC unroll 4
  for (int g = 0; g < 16; g += 4) turn_blocks(rows[g], rows[g + 1], rows[g + 2], rows[g + 3]);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    constexpr int kEven = 0x88, kOdd = 0xDD;  // blocks 0 and 2, or 1 and 3, of each
    const __m512i even01 = _mm512_maskz_shuffle_i32x4(kAll, rows[j], rows[4 + j], kEven),
                  even23 = _mm512_maskz_shuffle_i32x4(kAll, rows[8 + j], rows[12 + j], kEven),
                  odd01 = _mm512_maskz_shuffle_i32x4(kAll, rows[j], rows[4 + j], kOdd),
                  odd23 = _mm512_maskz_shuffle_i32x4(kAll, rows[8 + j], rows[12 + j], kOdd);
    rows[j] = _mm512_maskz_shuffle_i32x4(kAll, even01, even23, kEven);
    rows[8 + j] = _mm512_maskz_shuffle_i32x4(kAll, even01, even23, kOdd);
    rows[4 + j] = _mm512_maskz_shuffle_i32x4(kAll, odd01, odd23, kEven);
    rows[12 + j] = _mm512_maskz_shuffle_i32x4(kAll, odd01, odd23, kOdd);
  }
}

// 32 bytes from one place, and 32 from another behind them.
HEED_WORDS_INLINE __m512i join_halves(const void* lower, const void* upper) {
  constexpr __mmask8 kPairs = 0xFF;
  const auto half = [](const void* at) __attribute__((target("avx512f"))) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
  };
  return _mm512_maskz_inserti64x4(kPairs, _mm512_castsi256_si512(half(lower)), half(upper), 1);
}

// Eight words of 16 rows: rows 0 to 3 and 8 to 11 are the lower halves of eight vectors, rows 4 to 7 and 12 to 15 the
// upper ones. Row i becomes word i of each. A load puts two halves into one vector, which spares a quarter of the
// shuffles of turn_words().
HEED_WORDS_INLINE void turn_half_lines(__m512i (&halves)[8]) {
  constexpr __mmask16 kAll = 0xFFFF;
  turn_blocks(halves[0], halves[1], halves[2], halves[3]);
  turn_blocks(halves[4], halves[5], halves[6], halves[7]);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i first = halves[j], second = halves[4 + j];
    halves[j] = _mm512_maskz_shuffle_i32x4(kAll, first, second, 0x88);
    halves[4 + j] = _mm512_maskz_shuffle_i32x4(kAll, first, second, 0xDD);
  }
}

// R rows of 16 words, R a power of two, become their words in turn: word 0 of each row, then word 1, and so on.
template <int R>
HEED_WORDS_INLINE void join_words(__m512i (&x)[R]) {
  const __m512i lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                upper = _mm512_add_epi32(lower, _mm512_set1_epi32(8));
#pragma GCC unroll 4
  for (int step = 1; step < R; step *= 2) {
    __m512i from[R];
#pragma GCC unroll 16
    for (int n = 0; n < R; ++n) from[n] = x[n];
#pragma GCC unroll 8
    for (int n = 0; n < R / 2; ++n) {
      x[2 * n] = _mm512_permutex2var_epi32(from[n], lower, from[R / 2 + n]);
      x[2 * n + 1] = _mm512_permutex2var_epi32(from[n], upper, from[R / 2 + n]);
    }
  }
}

// And back.
template <int R>
HEED_WORDS_INLINE void part_words(__m512i (&x)[R]) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
                odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
#pragma GCC unroll 4
  for (int step = 1; step < R; step *= 2) {
    __m512i from[R];
#pragma GCC unroll 16
    for (int n = 0; n < R; ++n) from[n] = x[n];
#pragma GCC unroll 8
    for (int n = 0; n < R / 2; ++n) {
      x[n] = _mm512_permutex2var_epi32(from[2 * n], even, from[2 * n + 1]);
      x[R / 2 + n] = _mm512_permutex2var_epi32(from[2 * n], odd, from[2 * n + 1]);
    }
  }
}

// Words n have half-word n of one row in the lower half and that of the next row in the upper one; of the first
// sixteen half-words of the rows, or of the last.
HEED_WORDS_INLINE __m512i pair_half_words(__m512i row, __m512i next_row, bool last) {
  const __m512i first =
      _mm512_setr_epi32(0x200000, 0x210001, 0x220002, 0x230003, 0x240004, 0x250005, 0x260006, 0x270007, 0x280008,
                        0x290009, 0x2A000A, 0x2B000B, 0x2C000C, 0x2D000D, 0x2E000E, 0x2F000F);
  const __m512i order = last ? _mm512_add_epi16(first, _mm512_set1_epi16(16)) : first;
  return _mm512_permutex2var_epi16(row, order, next_row);
}

}  // namespace heed::kernels

#endif
