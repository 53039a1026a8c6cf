// A line of sixteen keys at a time is read whole, turned in registers, so that a lane has the pairs of a key, and
// multiplied; of values two rows become pairs. So each is read once, and no sum goes through memory.
//
// By AVX-512's dot products, or by multiply-adds of f32 in the order of AMX's tiles: two chains of sixteen, of the even
// and of the odd numbers of a line of 32, are added to each other and then to the sum. Few rows would leave most of a
// tile empty, which wants keys copied and turned, too.
#include "heed/kernels/pair_rows.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "heed/kernels/lines_below.h"

namespace heed::kernels {
namespace {

#define HEED_PAIR_INLINE HEED_PAIR_TARGET __attribute__((always_inline)) inline

constexpr Index kRowLanes = 16, kLinePairs = 16, kLineNumbers = 32;

// Row i of 16 rows of 16 words becomes word i of each. With a mask of all words, for GCC 12 warns of what the forms
// without one leave undefined.
HEED_PAIR_INLINE void turn(__m512i (&rows)[kRowLanes]) {
  constexpr __mmask8 kPairs = 0xFF;
  constexpr __mmask16 kWords = 0xFFFF;
  __m512i quads[kRowLanes];  // [4 g + j]: in its block e, word 4 e + j of rows 4 g .. 4 g + 3
#pragma GCC unroll 4
  for (int g = 0; g < 16; g += 4) {
    const __m512i lower01 = _mm512_maskz_unpacklo_epi32(kWords, rows[g], rows[g + 1]),
                  lower23 = _mm512_maskz_unpacklo_epi32(kWords, rows[g + 2], rows[g + 3]),
                  upper01 = _mm512_maskz_unpackhi_epi32(kWords, rows[g], rows[g + 1]),
                  upper23 = _mm512_maskz_unpackhi_epi32(kWords, rows[g + 2], rows[g + 3]);
    quads[g] = _mm512_maskz_unpacklo_epi64(kPairs, lower01, lower23);
    quads[g + 1] = _mm512_maskz_unpackhi_epi64(kPairs, lower01, lower23);
    quads[g + 2] = _mm512_maskz_unpacklo_epi64(kPairs, upper01, upper23);
    quads[g + 3] = _mm512_maskz_unpackhi_epi64(kPairs, upper01, upper23);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    constexpr int kEven = 0x88, kOdd = 0xDD;  // blocks 0 and 2, or 1 and 3, of each
    const __m512i even01 = _mm512_maskz_shuffle_i32x4(kWords, quads[j], quads[4 + j], kEven),
                  even23 = _mm512_maskz_shuffle_i32x4(kWords, quads[8 + j], quads[12 + j], kEven),
                  odd01 = _mm512_maskz_shuffle_i32x4(kWords, quads[j], quads[4 + j], kOdd),
                  odd23 = _mm512_maskz_shuffle_i32x4(kWords, quads[8 + j], quads[12 + j], kOdd);
    rows[j] = _mm512_maskz_shuffle_i32x4(kWords, even01, even23, kEven);
    rows[8 + j] = _mm512_maskz_shuffle_i32x4(kWords, even01, even23, kOdd);
    rows[4 + j] = _mm512_maskz_shuffle_i32x4(kWords, odd01, odd23, kEven);
    rows[12 + j] = _mm512_maskz_shuffle_i32x4(kWords, odd01, odd23, kOdd);
  }
}

HEED_PAIR_INLINE __m512 add_pairs(__m512 sum, const BFloat16* pair, __m512i pairs) {
  std::int32_t both;
  __builtin_memcpy(&both, pair, sizeof(both));
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(_mm512_set1_epi32(both)), reinterpret_cast<__m512bh>(pairs));
}

enum class Order { dot_products, tiles };

HEED_PAIR_INLINE __m512 lower_numbers(__m512i pairs) {
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xFFFF, pairs, 16));
}
HEED_PAIR_INLINE __m512 upper_numbers(__m512i pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xFFFF0000u))));
}

// R rows of `a`, a line of each from `at` on, in f32.
template <int R>
HEED_PAIR_INLINE void widen_line(const BFloat16* a, Index a_row, float (&to)[R][kLineNumbers]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (Index half = 0; half < kLineNumbers; half += kRowLanes) {
      const __m256i numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + r * a_row + half));
      _mm512_storeu_ps(&to[r][half], lower_numbers(_mm512_maskz_cvtepu16_epi32(0xFFFF, numbers)));
    }
}

// sums[r] += a[r] . words, of the pairs of a line.
template <int R, Order kOrder>
HEED_PAIR_INLINE void add_line(const BFloat16* a, Index a_row, const __m512i (&words)[kRowLanes], __m512 (&sums)[R]) {
  if constexpr (kOrder == Order::dot_products) {
#pragma GCC unroll 16
    for (int p = 0; p < kLinePairs; ++p)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sums[r] = add_pairs(sums[r], a + r * a_row + 2 * p, words[p]);
  } else {
    alignas(64) float wide[R][kLineNumbers];
    widen_line<R>(a, a_row, wide);
    asm volatile("" ::: "memory");  // GCC 12 would take each number out of a register again, by two exchanges
    __m512 even[R], odd[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) even[r] = odd[r] = _mm512_setzero_ps();
#pragma GCC unroll 16
    for (int p = 0; p < kLinePairs; ++p) {
      const __m512 lower = lower_numbers(words[p]), upper = upper_numbers(words[p]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        even[r] = _mm512_fmadd_ps(_mm512_set1_ps(wide[r][2 * p]), lower, even[r]);
        odd[r] = _mm512_fmadd_ps(_mm512_set1_ps(wide[r][2 * p + 1]), upper, odd[r]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sums[r] = _mm512_add_ps(sums[r], _mm512_add_ps(even[r], odd[r]));
  }
}

template <int R, Order kOrder>
HEED_PAIR_TARGET void products_of_rows(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored,
                                       float alpha, FewRows<float> products) {
  constexpr Index kSize = sizeof(BFloat16);
  LinesBelow<kRowLanes> below(stored, stored.row * kSize, stored.width * kSize);
  const auto* const first = static_cast<const BFloat16*>(stored.data);
  for (Index key = 0; key < stored.count; key += kRowLanes) {
    __m512 sums[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sums[r] = _mm512_setzero_ps();
    for (Index at = 0; at < stored.width; at += kLineNumbers) {
      below.ask_beside(key, at / kLineNumbers);
      __m512i words[kRowLanes];
#pragma GCC unroll 16
      for (int n = 0; n < kRowLanes; ++n) words[n] = _mm512_loadu_si512(first + (key + n) * stored.row + at);
      turn(words);
      add_line<R, kOrder>(a + at, a_row, words, sums);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      if (r < rows) {
        _mm512_storeu_ps(products.data + r * products.row + key, _mm512_mul_ps(sums[r], _mm512_set1_ps(alpha)));
      }
    }
  }
}

// Words n have number n of one row in the lower half and that of the next row in the upper one.
HEED_PAIR_INLINE __m512i pairs_of(__m512i lower, __m512i upper, int half) {
  const __m512i words =
      _mm512_setr_epi32(0x200000, 0x210001, 0x220002, 0x230003, 0x240004, 0x250005, 0x260006, 0x270007, 0x280008,
                        0x290009, 0x2A000A, 0x2B000B, 0x2C000C, 0x2D000D, 0x2E000E, 0x2F000F);
  const __m512i order = half == 0 ? words : _mm512_add_epi16(words, _mm512_set1_epi16(16));
  return _mm512_permutex2var_epi16(lower, order, upper);
}

// R rows of weights with kLines lines of all values, from `column` on.
template <int R, int kLines>
HEED_PAIR_TARGET void sums_of_lines(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                                    Index column, const float* decays, RowsBelow& below, FewRows<float> result) {
  constexpr int kVectors = 2 * kLines;
  __m512 sums[R][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_ps();
  constexpr Index kSize = sizeof(BFloat16);
  const auto* row = static_cast<const BFloat16*>(stored.data) + column;
  for (Index key = 0; key < stored.count; key += 2, row += 2 * stored.row) {
    __m512i pairs[kVectors];
    const bool both = key + 1 < stored.count;
    below.ask_beside(key, column * kSize, kLines * kLineBytes);
    below.ask_beside(key + 1, column * kSize, kLines * kLineBytes);
#pragma GCC unroll 4
    for (int line = 0; line < kLines; ++line) {
      const BFloat16* const at = row + line * kLineNumbers;
      const __m512i lower = _mm512_loadu_si512(at),
                    upper = both ? _mm512_loadu_si512(at + stored.row) : _mm512_setzero_si512();
      pairs[2 * line] = pairs_of(lower, upper, 0), pairs[2 * line + 1] = pairs_of(lower, upper, 1);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] = add_pairs(sums[r][v], weights + r * weights_row + key, pairs[v]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    if (r == rows) break;
    const __m512 decay = _mm512_set1_ps(decays != nullptr ? decays[r] : 0.0f);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Index at = column + v * kRowLanes;
      if (at >= result.row) break;
      float* const to = result.data + r * result.row + at;
      _mm512_storeu_ps(to, decays != nullptr ? _mm512_fmadd_ps(_mm512_loadu_ps(to), decay, sums[r][v]) : sums[r][v]);
    }
  }
}

template <int R>
HEED_PAIR_TARGET void sums_of_rows(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                                   const float* decays, FewRows<float> sums) {
  constexpr int kLines = std::min(8 / R, 4);  // as many sums as registers hold beside what is added to them
  constexpr Index kSize = sizeof(BFloat16);
  RowsBelow below(stored, stored.row * kSize, stored.width * kSize, kLines * kLineBytes);
  Index column = 0;
  for (; column + kLines * kLineNumbers <= stored.width; column += kLines * kLineNumbers)
    sums_of_lines<R, kLines>(rows, weights, weights_row, stored, column, decays, below, sums);
  for (; column < stored.width; column += kLineNumbers)
    sums_of_lines<R, 1>(rows, weights, weights_row, stored, column, decays, below, sums);
}

// A number below 2^-126 counts as zero while there is one, as it does in a tile. What is computed meanwhile is a call
// of its own, which no compiler moves.
class NoSubnormals {
 public:
  NoSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushesResults | kTakesAsZero); }
  ~NoSubnormals() { _mm_setcsr(before_); }
  NoSubnormals(const NoSubnormals&) = delete;
  NoSubnormals& operator=(const NoSubnormals&) = delete;

 private:
  static constexpr unsigned kFlushesResults = 0x8000, kTakesAsZero = 0x0040;
  unsigned before_;
};

// As many vectors of values at a time as registers hold three sums of R rows of each.
template <int R>
constexpr int kTileVectors = 8 / R;

// parts[r, v] = weights[r] times kVectors vectors of all values, from `column` on, in the tiles' order.
template <int R, int kVectors>
HEED_PAIR_TARGET __attribute__((noinline)) void tile_sums_of_vectors(const float* weights, Index weights_row,
                                                                     const StoredRows& stored, Index column,
                                                                     RowsBelow& below, __m512 (*parts)[kVectors]) {
  constexpr Index kSize = sizeof(BFloat16);
  __m512 sums[R][kVectors], even[R][kVectors], odd[R][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = even[r][v] = odd[r][v] = _mm512_setzero_ps();
  const auto* row = static_cast<const BFloat16*>(stored.data) + column;
  const auto add = [&](const float* of_key, __m512(&chains)[R][kVectors]) HEED_PAIR_TARGET {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const __m256i numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + v * kRowLanes));
      const __m512 wide = lower_numbers(_mm512_maskz_cvtepu16_epi32(0xFFFF, numbers));
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        chains[r][v] = _mm512_fmadd_ps(_mm512_set1_ps(of_key[r * weights_row]), wide, chains[r][v]);
      }
    }
  };
  for (Index key = 0; key < stored.count; key += 2) {
    below.ask_beside(key, column * kSize, kVectors * kRowLanes * kSize);
    below.ask_beside(key + 1, column * kSize, kVectors * kRowLanes * kSize);
    add(weights + key, even);
    row += stored.row;
    if (key + 1 < stored.count) add(weights + key + 1, odd), row += stored.row;
    if ((key + 2) % kLineNumbers != 0 && key + 2 < stored.count) continue;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = _mm512_add_ps(sums[r][v], _mm512_add_ps(even[r][v], odd[r][v]));
        even[r][v] = odd[r][v] = _mm512_setzero_ps();
      }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) parts[r][v] = sums[r][v];
}

template <int R, int kVectors>
HEED_PAIR_TARGET void tile_sums_from(Index rows, const float* weights, Index weights_row, const StoredRows& stored,
                                     Index column, const float* decays, RowsBelow& below, FewRows<float> result) {
  __m512 parts[R][kVectors];
  {
    const NoSubnormals none;
    tile_sums_of_vectors<R, kVectors>(weights, weights_row, stored, column, below, parts);
  }
  for (Index r = 0; r < rows; ++r) {
    float* to = result.data + r * result.row + column;
    for (int v = 0; v < kVectors; ++v, to += kRowLanes) {
      const __m512 sum = parts[r][v];
      const bool adds = decays != nullptr;
      _mm512_storeu_ps(to, adds ? _mm512_fmadd_ps(_mm512_loadu_ps(to), _mm512_set1_ps(decays[r]), sum) : sum);
    }
  }
}

template <int R>
HEED_PAIR_TARGET void tile_sums_of_rows(Index rows, const BFloat16* weights, Index weights_row,
                                        const StoredRows& stored, const float* decays, FewRows<float> result) {
  constexpr Index kSize = sizeof(BFloat16), kMostKeys = 64;
  constexpr int kVectors = kTileVectors<R>;
  alignas(64) float wide[R][kMostKeys];
  for (Index line = 0; line < round_up(stored.count, kLineNumbers); line += kLineNumbers) {
    float of_line[R][kLineNumbers];
    widen_line<R>(weights + line, weights_row, of_line);
    for (int r = 0; r < R; ++r) std::copy_n(of_line[r], kLineNumbers, wide[r] + line);
  }
  RowsBelow below(stored, stored.row * kSize, stored.width * kSize, kVectors * kRowLanes * kSize);
  Index column = 0;
  for (; column + kVectors * kRowLanes <= result.row; column += kVectors * kRowLanes)
    tile_sums_from<R, kVectors>(rows, wide[0], kMostKeys, stored, column, decays, below, result);
  for (; column < result.row; column += kRowLanes)
    tile_sums_from<R, 1>(rows, wide[0], kMostKeys, stored, column, decays, below, result);
}

// Calls f with the constant of so many rows as are computed together.
template <typename F>
void for_few_rows(Index rows, const F& f) {
  switch (few_rows_for(rows)) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 4:
      return f(std::integral_constant<int, 4>());
    default:
      return f(std::integral_constant<int, kFewRows>());
  }
}

}  // namespace

void row_products_by_avx512(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored, float alpha,
                            FewRows<float> products) {
  for_few_rows(rows, [&](auto computed) {
    products_of_rows<computed(), Order::dot_products>(rows, a, a_row, stored, alpha, products);
  });
}

void row_sums_by_avx512(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                        const float* decays, FewRows<float> sums) {
  for_few_rows(rows,
               [&](auto computed) { sums_of_rows<computed()>(rows, weights, weights_row, stored, decays, sums); });
}

void row_products_as_tiles(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored, float alpha,
                           FewRows<float> products) {
  for_few_rows(rows, [&](auto computed) {
    const NoSubnormals none;
    constexpr float kAsSummed = 1;  // which changes no sum that is no subnormal
    products_of_rows<computed(), Order::tiles>(rows, a, a_row, stored, kAsSummed, products);
  });
  for (Index r = 0; r < rows; ++r) {
    float* const row = products.data + r * products.row;
    for (Index j = 0; j < round_up(stored.count, kRowLanes); ++j) row[j] *= alpha;
  }
}

void row_sums_as_tiles(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                       const float* decays, FewRows<float> sums) {
  for_few_rows(rows,
               [&](auto computed) { tile_sums_of_rows<computed()>(rows, weights, weights_row, stored, decays, sums); });
}

}  // namespace heed::kernels

#endif
