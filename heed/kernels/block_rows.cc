#include "heed/kernels/block_rows.h"

#include "heed/base/check.h"
#include "heed/kernels/digit_target.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <algorithm>

#include "heed/kernels/lines_below.h"

namespace heed::kernels {
namespace {

HEED_DIGIT_INLINE __m512 in_f32(__m512i numbers) { return _mm512_maskz_cvtepi32_ps(kWords, numbers); }

// sum * 256 + the products of bytes and digits, of four numbers in each lane.
HEED_DIGIT_INLINE __m512i next_digit(__m512i sum, __m512i bytes, const std::int8_t* digits) {
  return _mm512_dpbusd_epi32(_mm512_maskz_slli_epi32(kWords, sum, 8), bytes, _mm512_loadu_si512(digits));
}

// Four products of 6 bits and 24 stay within 32 bits, of 8 bits only without the last digit.
template <bool kEightBits>
HEED_DIGIT_INLINE __m512 products_of(__m512i bytes, const std::int8_t* digits, Index place) {
  const __m512i none = _mm512_setzero_si512();
  const __m512i high = _mm512_dpbusd_epi32(none, bytes, _mm512_loadu_si512(digits));
  const __m512i upper = next_digit(high, bytes, digits + place);
  if constexpr (!kEightBits) return in_f32(next_digit(upper, bytes, digits + 2 * place));
  const __m512i low = _mm512_dpbusd_epi32(none, bytes, _mm512_loadu_si512(digits + 2 * place));
  return _mm512_fmadd_ps(in_f32(upper), _mm512_set1_ps(256), in_f32(low));
}

HEED_DIGIT_TARGET void sum_shares(const std::int8_t* digits, Index width, float* sums) {
  const Index place = ceil_div(width, kDigitLine) * kDigitLine;
  const __m512i ones = _mm512_set1_epi8(1);
  std::fill_n(sums, UnpackedRows::shares_of(width), 0.0f);
  for (Index at = 0; at < place; at += kDigitLine) {
    __m512i fours = _mm512_dpbusd_epi32(_mm512_setzero_si512(), ones, _mm512_loadu_si512(digits + at));
    fours = next_digit(fours, ones, digits + place + at);
    fours = next_digit(fours, ones, digits + 2 * place + at);
    fours = _mm512_add_epi32(fours, _mm512_maskz_shuffle_epi32(kWords, fours, _MM_PERM_BADC));
    fours = _mm512_add_epi32(fours, _mm512_maskz_shuffle_epi32(kWords, fours, _MM_PERM_CDAB));
    constexpr __mmask16 kFirstOfFour = 0x1111;
    const __m512i sixteens = _mm512_maskz_compress_epi32(kFirstOfFour, fours);
    constexpr __mmask16 kFour = 0xF;
    _mm512_mask_storeu_ps(sums + at / kShareNumbers, kFour, in_f32(sixteens));
  }
}

// One of four numbers for each four lanes.
HEED_DIGIT_INLINE __m512 spread(const float* four) {
  const __m512i each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  return _mm512_maskz_permutevar_ps(kWords, _mm512_maskz_broadcast_f32x4(kWords, _mm_loadu_ps(four)), each);
}

// Lane i and lane i + 8 first, and so on.
HEED_DIGIT_INLINE float sum_of(__m512 lanes) {
  const __m256 eight =
      _mm256_add_ps(_mm512_maskz_extractf32x8_ps(kEights, lanes, 0), _mm512_maskz_extractf32x8_ps(kEights, lanes, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// R rows by all stored rows, O at a time.
template <bool kEightBits, int R, int O>
HEED_DIGIT_TARGET void products_of_rows(const SummedDigitRows& x, const UnpackedRows& stored, const float* bias,
                                        const ProductPlaces& y) {
  constexpr Index kShareLines = kShares * kShareNumbers / kDigitLine;
  const Index lines = stored.lines(), place = lines * kDigitLine, shares = stored.shares();
  const std::int8_t* digits[R];
  const float* sums[R];
  for (int r = 0; r < R; ++r) {
    const Index of = std::min<Index>(r, x.rows.count - 1);
    digits[r] = x.rows.digits + of * kDigits * place, sums[r] = x.sums + of * shares;
  }
  SpreadBelow below({stored.next, stored.next_bytes}, {nullptr, 0}, ceil_div(stored.count, O) * lines);
  for (Index j = 0; j < stored.count; j += O) {
    const std::uint8_t* bytes[O];
    const float *scale[O], *less[O];
    for (int o = 0; o < O; ++o) {
      const Index of = std::min(j + o, stored.count - 1);
      bytes[o] = stored.bytes + of * place, scale[o] = stored.scale + of * shares, less[o] = stored.less + of * shares;
    }
    __m512 totals[R * O];
#pragma GCC unroll 8
    for (int i = 0; i < R * O; ++i) totals[i] = _mm512_setzero_ps();
    for (Index first = 0; first < lines; first += kShareLines) {
      for (Index line = first; line < std::min(first + kShareLines, lines); ++line) {
        below.ask_beside_step();
        __m512i numbers[O];
        __m512 scales[O];
#pragma GCC unroll 8
        for (int o = 0; o < O; ++o) {
          numbers[o] = _mm512_loadu_si512(bytes[o] + line * kDigitLine), scales[o] = spread(scale[o] + 4 * line);
        }
#pragma GCC unroll 8
        for (int i = 0; i < R * O; ++i) {
          const std::int8_t* const at = digits[i / O] + line * kDigitLine;
          const __m512 number = products_of<kEightBits>(numbers[i % O], at, place);
          totals[i] = _mm512_fmadd_ps(number, scales[i % O], totals[i]);
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < R * O; ++i) {
        totals[i] = _mm512_fnmadd_ps(_mm512_loadu_ps(sums[i / O] + 4 * first), _mm512_loadu_ps(less[i % O] + 4 * first),
                                     totals[i]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < R * O; ++i) {
      const int r = i / O, o = i % O;
      if (r >= x.rows.count || j + o >= stored.count) continue;
      const float product = sum_of(totals[i]) * static_cast<float>(x.rows.terms[r].unit);
      y.data[r * y.row + (j + o) * y.column] = bias != nullptr ? product + bias[j + o] : product;
    }
  }
}

template <bool kEightBits>
void products_of_all(const SummedDigitRows& x, const UnpackedRows& stored, const float* bias, const ProductPlaces& y) {
  constexpr Index kMostRows = 4;
  for (Index r = 0; r < x.rows.count; r += kMostRows) {
    const DigitRows rows{x.rows.digits + r * digit_row_bytes(stored.width), x.rows.terms + r,
                         std::min(x.rows.count - r, kMostRows)};
    const auto run = rows.count == 1   ? products_of_rows<kEightBits, 1, 4>
                     : rows.count == 2 ? products_of_rows<kEightBits, 2, 4>
                                       : products_of_rows<kEightBits, 4, 2>;
    run({rows, x.sums + r * stored.shares()}, stored, bias, {y.data + r * y.row, y.row, y.column});
  }
}

}  // namespace

void sum_digits(const std::int8_t* digits, Index width, float* sums) { sum_shares(digits, width, sums); }

void block_products(const SummedDigitRows& x, const UnpackedRows& stored, const float* bias, const ProductPlaces& y) {
  (has_eight_bits(stored.type) ? products_of_all<true> : products_of_all<false>)(x, stored, bias, y);
}

}  // namespace heed::kernels

#else

namespace heed::kernels {

void sum_digits(const std::int8_t*, Index, float*) { fail("sum_digits: there is no unit"); }
void block_products(const SummedDigitRows&, const UnpackedRows&, const float*, const ProductPlaces&) {
  fail("block_products: there is no unit");
}

}  // namespace heed::kernels

#endif
