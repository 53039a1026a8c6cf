// A line of sixteen keys at a time is read whole, turned in registers, so that a lane has the pairs of a key, and
// multiplied; of values two rows become pairs. So each is read once, and no sum goes through memory.
#include "heed/kernels/pair_rows.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "heed/kernels/lines_below.h"
#include "heed/kernels/word_order.h"

namespace heed::kernels {
namespace {

#define HEED_PAIR_INLINE HEED_PAIR_TARGET __attribute__((always_inline)) inline

constexpr Index kRowLanes = 16, kLinePairs = 16, kLineNumbers = 32;

HEED_PAIR_INLINE __m512 add_pairs(__m512 sum, const BFloat16* pair, __m512i pairs) {
  std::int32_t both;
  __builtin_memcpy(&both, pair, sizeof(both));
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(_mm512_set1_epi32(both)), reinterpret_cast<__m512bh>(pairs));
}

// sums[r] += a[r] . words, of the pairs of a line.
template <int R>
HEED_PAIR_INLINE void add_line(const BFloat16* a, Index a_row, const __m512i (&words)[kRowLanes],
                               LinesBelow<kRowLanes>& below, __m512 (&sums)[R]) {
#pragma GCC unroll 16
  for (int p = 0; p < kLinePairs; ++p) {
    if (p % 4 == 0) below.ask_beside_parts(4);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sums[r] = add_pairs(sums[r], a + r * a_row + 2 * p, words[p]);
  }
}

template <int R>
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
      turn_words(words);
      add_line<R>(a + at, a_row, words, below, sums);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      if (r < rows) {
        _mm512_storeu_ps(products.data + r * products.row + key, _mm512_mul_ps(sums[r], _mm512_set1_ps(alpha)));
      }
    }
  }
}

// R rows of weights with kLines lines of all values, from `column` on.
template <int R, int kLines>
HEED_PAIR_TARGET void sums_of_lines(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                                    Index column, const float* decays, RowsBelow& below, FewRows<float> result) {
  constexpr int kVectors = 2 * kLines;
  __m512 sums[R][kVectors];
  const auto sum_at = [&](int r, int v) { return result.data + r * result.row + column + v * kRowLanes; };
  const auto there = [&](int r, int v) { return r < rows && column + v * kRowLanes < result.row; };
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = _mm512_setzero_ps();
      if (decays != nullptr && there(r, v)) {
        sums[r][v] = _mm512_mul_ps(_mm512_loadu_ps(sum_at(r, v)), _mm512_set1_ps(decays[r]));
      }
    }
  constexpr Index kSize = sizeof(BFloat16);
  const auto* row = static_cast<const BFloat16*>(stored.data) + column;
  for (Index key = 0; key < stored.count; key += 2, row += 2 * stored.row) {
    __m512i pairs[kVectors];
    const bool both = key + 1 < stored.count;
    below.ask_beside(key, column * kSize, kLines * kLineBytes);
#pragma GCC unroll 4
    for (int line = 0; line < kLines; ++line) {
      const BFloat16* const at = row + line * kLineNumbers;
      const __m512i lower = _mm512_loadu_si512(at),
                    upper = both ? _mm512_loadu_si512(at + stored.row) : _mm512_setzero_si512();
      pairs[2 * line] = pair_half_words(lower, upper, false), pairs[2 * line + 1] = pair_half_words(lower, upper, true);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] = add_pairs(sums[r][v], weights + r * weights_row + key, pairs[v]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      if (there(r, v)) _mm512_storeu_ps(sum_at(r, v), sums[r][v]);
    }
}

template <int R>
HEED_PAIR_TARGET void sums_of_rows(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                                   const float* decays, FewRows<float> sums) {
  constexpr int kLines = std::min(8 / R, 4);  // as many sums as registers hold beside what is added to them
  constexpr Index kSize = sizeof(BFloat16);
  RowsBelow below(stored, stored.row * kSize, stored.width * kSize, {.at_once = kLines * kLineBytes, .rows = 2});
  Index column = 0;
  for (; column + kLines * kLineNumbers <= stored.width; column += kLines * kLineNumbers)
    sums_of_lines<R, kLines>(rows, weights, weights_row, stored, column, decays, below, sums);
  for (; column < stored.width; column += kLineNumbers)
    sums_of_lines<R, 1>(rows, weights, weights_row, stored, column, decays, below, sums);
}

}  // namespace

void row_products_by_avx512(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored, float alpha,
                            FewRows<float> products) {
  for_few_rows(rows, [&](auto computed) { products_of_rows<computed()>(rows, a, a_row, stored, alpha, products); });
}

void row_sums_by_avx512(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                        const float* decays, FewRows<float> sums) {
  for_few_rows(rows,
               [&](auto computed) { sums_of_rows<computed()>(rows, weights, weights_row, stored, decays, sums); });
}

}  // namespace heed::kernels

#endif
