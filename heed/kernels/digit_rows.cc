#include "heed/kernels/digit_rows.h"

#include "heed/base/check.h"
#include "heed/kernels/digit_split-inl.h"
#include "heed/kernels/digit_target.h"
#include "heed/kernels/dot_features.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <algorithm>
#include <cstring>
#include <limits>

#include "heed/kernels/lines_below.h"

namespace heed::kernels {
namespace {

constexpr Index kFloats = 16, kPairs = 8;
// The unit multiplies bytes without a sign by bytes with one. So 128 is added to a weight, and DigitTerms::offset taken
// from the sum in the end. So many products of 255 by 128 stay within 32 bits.
constexpr Index kMostInputs = 65536;

HEED_DIGIT_INLINE __m512d in_f64(__m256i numbers) { return _mm512_maskz_cvtepi32_pd(kEights, numbers); }

// Of whole numbers, so that no order matters.
HEED_DIGIT_INLINE double sum_of(__m512d numbers) {
  const __m256d four = _mm256_add_pd(_mm512_maskz_extractf64x4_pd(kEights, numbers, 0),
                                     _mm512_maskz_extractf64x4_pd(kEights, numbers, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// The bytes of the words from that bit on.
HEED_DIGIT_INLINE void store_digits(__m512i words, unsigned bit, std::int8_t* to) {
  const __m128i bytes = _mm512_maskz_cvtepi32_epi8(kWords, _mm512_maskz_srli_epi32(kWords, words, bit));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}

HEED_DIGIT_TARGET void split(const float* x, Index width, std::int8_t* digits, DigitTerms* terms) {
  __m512i largest = _mm512_setzero_si512();
  for (Index i = 0; i < width; i += kFloats) {
    const __m512 numbers = _mm512_maskz_loadu_ps(first_lanes(width - i), x + i);
    largest = _mm512_maskz_max_epi32(kWords, largest, magnitude_bits(numbers));
  }
  const std::uint32_t most = largest_of(largest);
  const Index place = digit_row_bytes(width) / kDigits;
  if (most >= kInfinite) {
    std::memset(digits, 0, static_cast<std::size_t>(kDigits * place));
    *terms = {std::numeric_limits<double>::quiet_NaN(), 0};
    return;
  }
  const int exponent = unit_exponent(most);
  const __m512 inverse = _mm512_set1_ps(power_of_two(-exponent));
  __m512d sum = _mm512_setzero_pd();
  for (Index i = 0; i < place; i += kFloats) {
    const __m512i numbers = whole_numbers(_mm512_maskz_loadu_ps(first_lanes(width - i), x + i), inverse);
    const __m512i words = digits_of(numbers);
    store_digits(words, 16, digits + i);
    store_digits(words, 8, digits + place + i);
    store_digits(words, 0, digits + 2 * place + i);
    sum = _mm512_add_pd(sum, in_f64(_mm512_maskz_extracti64x4_epi64(kEights, numbers, 0)));
    sum = _mm512_add_pd(sum, in_f64(_mm512_maskz_extracti64x4_epi64(kEights, numbers, 1)));
  }
  *terms = {static_cast<double>(power_of_two(exponent)), sum_of(sum) * 128};
}

// The sums of the lanes of eight vectors.
HEED_DIGIT_INLINE __m256i sums_of(const __m512i (&of)[kPairs]) {
  __m512i twos[4], fours[2];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    twos[i] = _mm512_add_epi32(_mm512_maskz_unpacklo_epi32(kWords, of[2 * i], of[2 * i + 1]),
                               _mm512_maskz_unpackhi_epi32(kWords, of[2 * i], of[2 * i + 1]));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    fours[i] = _mm512_add_epi32(_mm512_maskz_unpacklo_epi64(kEights, twos[2 * i], twos[2 * i + 1]),
                                _mm512_maskz_unpackhi_epi64(kEights, twos[2 * i], twos[2 * i + 1]));
  }
  // Each block of 128 bits has a part of four sums.
  const __m512i parts = _mm512_add_epi32(_mm512_maskz_shuffle_i32x4(kWords, fours[0], fours[1], 0x88),
                                         _mm512_maskz_shuffle_i32x4(kWords, fours[0], fours[1], 0xDD));
  const __m512i halves = _mm512_add_epi32(parts, _mm512_maskz_shuffle_i32x4(kWords, parts, parts, 0xB1));
  return _mm512_maskz_extracti64x4_epi64(kEights, _mm512_maskz_shuffle_i32x4(kWords, halves, halves, 0x08), 0);
}

// What digits of three places have summed up to.
HEED_DIGIT_INLINE __m512d total_of(__m256i high, __m256i middle, __m256i low) {
  const __m512d base = _mm512_set1_pd(256);
  return _mm512_fmadd_pd(_mm512_fmadd_pd(in_f64(high), base, in_f64(middle)), base, in_f64(low));
}

HEED_DIGIT_INLINE __m256 scaled(__m512d totals, __m512d units, __m256 scales) {
  const __m512d factors = _mm512_mul_pd(units, _mm512_maskz_cvtps_pd(kEights, scales));
  return _mm512_maskz_cvtpd_ps(kEights, _mm512_mul_pd(totals, factors));
}

// The products of R rows with kPairs / R stored rows, so many bytes apart where all are there.
template <int R>
HEED_DIGIT_INLINE __m512d products_of(const std::int8_t* const (&rows)[R], Index place,
                                      const std::int8_t* const (&weights)[kPairs / R], Index apart, Index width) {
  constexpr int kTogether = kPairs / R, kAskedTogether = 16;  // as far ahead as if so many rows were read together
  const __m512i sign = _mm512_set1_epi8(-128);
  const char* const asked =
      static_cast<const char*>(static_cast<const void*>(weights[0])) + ask_ahead().bytes / kAskedTogether;
  const bool into_first_cache = ask_ahead().into_first_cache;
  __m512d totals = _mm512_setzero_pd();
  for (Index begin = 0; begin < width; begin += kMostInputs) {
    const Index end = std::min(begin + kMostInputs, width);
    __m512i high[kPairs], middle[kPairs], low[kPairs];
#pragma GCC unroll 8
    for (int i = 0; i < kPairs; ++i) high[i] = middle[i] = low[i] = _mm512_setzero_si512();
    for (Index at = begin; at < end; at += kDigitLine) {
      ask_lines(asked + at, apart, kTogether, into_first_cache);
      const __mmask64 there = ~std::uint64_t{0} >> (kDigitLine - std::min(end - at, kDigitLine));
      __m512i line[kTogether];
#pragma GCC unroll 8
      for (int i = 0; i < kPairs; ++i) {
        const std::int8_t* const digits = rows[i / kTogether] + at;
        if (i < kTogether) line[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, weights[i] + at), sign);
        high[i] = _mm512_dpbusd_epi32(high[i], line[i % kTogether], _mm512_loadu_si512(digits));
        middle[i] = _mm512_dpbusd_epi32(middle[i], line[i % kTogether], _mm512_loadu_si512(digits + place));
        low[i] = _mm512_dpbusd_epi32(low[i], line[i % kTogether], _mm512_loadu_si512(digits + 2 * place));
      }
    }
    totals = _mm512_add_pd(totals, total_of(sums_of(high), sums_of(middle), sums_of(low)));
  }
  return totals;
}

// R rows by all stored rows, as many at a time as make eight products. Those lie as far apart as they can, so that each
// is the next piece of a long run of memory: of so many runs a core reads more than of one, or of rows side by side.
template <int R>
HEED_DIGIT_TARGET void products_of_rows(const DigitRows& x, const StoredRows& stored, const float* bias,
                                        const ProductPlaces& y) {
  constexpr int kTogether = kPairs / R;
  const Index row_bytes = digit_row_bytes(stored.width), place = row_bytes / kDigits;
  alignas(64) double units[kPairs], offsets[kPairs];
  const std::int8_t* rows[R];
  for (int r = 0; r < R; ++r) {
    const Index of = std::min<Index>(r, x.count - 1);
    rows[r] = x.digits + of * row_bytes;
    for (int o = 0; o < kTogether; ++o) {
      units[r * kTogether + o] = x.terms[of].unit, offsets[r * kTogether + o] = x.terms[of].offset;
    }
  }

  const Index most_apart = stored.count / kTogether, met = most_apart * kTogether;
  for (Index nth = 0; nth < most_apart + (met < stored.count ? 1 : 0); ++nth) {
    const bool left = nth == most_apart;  // rows that are too few for another group
    const Index first = left ? met : nth, apart = left ? 1 : most_apart, count = left ? stored.count - met : kTogether;
    const std::int8_t* weights[kTogether];
    float scales[kPairs], added[kPairs], results[kPairs];
    for (int i = 0; i < kPairs; ++i) {
      const Index of = first + std::min<Index>(i % kTogether, count - 1) * apart;
      if (i < kTogether) weights[i] = static_cast<const std::int8_t*>(stored.data) + of * stored.row;
      scales[i] = stored.scales[of * stored.scale_row];
      added[i] = bias != nullptr ? bias[of] : 0.0f;
    }
    const __m512d totals =
        _mm512_sub_pd(products_of<R>(rows, place, weights, apart * stored.row, stored.width), _mm512_load_pd(offsets));
    const __m256 products = scaled(totals, _mm512_load_pd(units), _mm256_loadu_ps(scales));
    _mm256_storeu_ps(results, bias != nullptr ? _mm256_add_ps(products, _mm256_loadu_ps(added)) : products);
    for (int r = 0; r < std::min<Index>(R, x.count); ++r) {
      for (Index o = 0; o < count; ++o) y.data[r * y.row + (first + o * apart) * y.column] = results[r * kTogether + o];
    }
  }
}

HEED_DIGIT_TARGET void scale_sums(const std::int32_t* sums, Index count, const DigitTerms& terms, const float* scales,
                                  const float* bias, float* y, Index column) {
  const __m512d units = _mm512_set1_pd(terms.unit);
  for (Index j = 0; j < count; j += kPairs) {
    const auto there = static_cast<__mmask8>(kEights >> (kPairs - std::min(count - j, kPairs)));
    const auto place = [&](Index n) HEED_DIGIT_TARGET { return _mm256_maskz_loadu_epi32(there, sums + n * count + j); };
    __m256 results = scaled(total_of(place(0), place(1), place(2)), units, _mm256_maskz_loadu_ps(there, scales + j));
    if (bias != nullptr) results = _mm256_add_ps(results, _mm256_maskz_loadu_ps(there, bias + j));
    if (column == 1) {
      _mm256_mask_storeu_ps(y + j, there, results);
      continue;
    }
    float lanes[kPairs];
    _mm256_storeu_ps(lanes, results);
    for (Index n = 0; n < std::min(count - j, kPairs); ++n) y[(j + n) * column] = lanes[n];
  }
}

}  // namespace

bool has_digit_products() { return dot_features().avx512_vnni; }

void split_digits(const float* x, Index width, std::int8_t* digits, DigitTerms* terms) {
  split(x, width, digits, terms);
}

void digit_products(const DigitRows& x, const StoredRows& stored, const float* bias, const ProductPlaces& y) {
  constexpr Index kMostRows = 4;
  for (Index r = 0; r < x.count; r += kMostRows) {
    const DigitRows some{x.digits + r * digit_row_bytes(stored.width), x.terms + r, std::min(x.count - r, kMostRows)};
    const auto run = some.count == 1   ? products_of_rows<1>
                     : some.count == 2 ? products_of_rows<2>
                                       : products_of_rows<4>;
    run(some, stored, bias, {y.data + r * y.row, y.row, y.column});
  }
}

void scale_digit_sums(const std::int32_t* sums, Index count, const DigitTerms& terms, const float* scales,
                      const float* bias, float* y, Index column) {
  scale_sums(sums, count, terms, scales, bias, y, column);
}

}  // namespace heed::kernels

#else

namespace heed::kernels {

bool has_digit_products() { return false; }
void split_digits(const float*, Index, std::int8_t*, DigitTerms*) { fail("split_digits: there is no unit"); }
void digit_products(const DigitRows&, const StoredRows&, const float*, const ProductPlaces&) {
  fail("digit_products: there is no unit");
}
void scale_digit_sums(const std::int32_t*, Index, const DigitTerms&, const float*, const float*, float*, Index) {
  fail("scale_digit_sums: there is no unit");
}

}  // namespace heed::kernels

#endif
