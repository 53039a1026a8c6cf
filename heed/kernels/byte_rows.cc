#include "heed/kernels/byte_rows.h"

#include "heed/base/check.h"
#include "heed/kernels/byte_sums-inl.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <array>
#include <cstring>
#include <limits>

#include "heed/kernels/byte_units.h"
#include "heed/kernels/tile_products.h"
#include "heed/kernels/word_order.h"

namespace heed::kernels {
namespace {

constexpr int kVectors = kByteKeys / kSumLanes;

// The bytes of a row's words, place after place, the highest first.
HEED_DIGIT_INLINE void store_places(__m512i (&words)[kVectors], std::int8_t* to) {
  static_assert(kVectors == 4 && kDigits == 3);
  // In each block of 128 bits: the lowest bytes of its four words, then the next.
  const __m512i by_place =
      _mm512_maskz_broadcast_i32x4(kWords, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m512i in_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
#pragma GCC unroll 4
  for (__m512i& word : words) word = _mm512_shuffle_epi8(word, by_place);
  turn_blocks(words[0], words[1], words[2], words[3]);
#pragma GCC unroll 3
  for (Index place = 0; place < kDigits; ++place, to += kByteKeys) {
    _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi32(kWords, in_order, words[kDigits - 1 - place]));
  }
}

HEED_DIGIT_TARGET void split(Index rows, const float* weights, const StoredRows& stored, std::int8_t* digits,
                             float* units) {
  const ByteScales scales(stored);
  for (Index r = 0; r < rows; ++r, weights += kByteKeys, digits += kBytePlaces * kByteKeys) {
    __m512 numbers[kVectors];
    __m512i largest = _mm512_setzero_si512(), words[kVectors];
#pragma GCC unroll 4
    for (int n = 0; n < kVectors; ++n) {
      const Index at = n * kSumLanes;
      const __mmask16 there = first_lanes(stored.count - at);
      numbers[n] = _mm512_maskz_mul_ps(there, _mm512_loadu_ps(weights + at), _mm512_load_ps(scales.of + at));
      largest = _mm512_maskz_max_epi32(kWords, largest, magnitude_bits(numbers[n]));
    }
    const std::uint32_t most = largest_of(largest);
    if (most >= kInfinite) {
      std::memset(digits, 0, static_cast<std::size_t>(kDigits * kByteKeys));
      units[r] = std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    const int exponent = unit_exponent(most);
    const __m512 inverse = _mm512_set1_ps(power_of_two(-exponent));
#pragma GCC unroll 4
    for (int n = 0; n < kVectors; ++n) words[n] = digits_of(whole_numbers(numbers[n], inverse));
    store_places(words, digits);
    units[r] = power_of_two(exponent);
  }
}

}  // namespace

void turn_digits(Index row, Index rows, const std::int8_t* digits, Index width, std::uint32_t* columns) {
  const Index places = kBytePlaces * byte_rows_for(rows), place_bytes = digit_row_bytes(width) / kDigits;
  for (Index place = 0; place < kBytePlaces; ++place) {
    std::uint32_t* column = columns + kBytePlaces * row + place;
    std::int32_t sum = 0;
    for (Index at = 0; at < place_bytes; at += 4, column += places) {
      *column = 0;
      if (place >= kDigits) continue;
      const std::int8_t* const from = digits + place * place_bytes + at;
      std::memcpy(column, from, sizeof(*column));
      sum += from[0] + from[1] + from[2] + from[3];
    }
    // The unit multiplies bytes without a sign by bytes with one: 128 is added to a stored number, and a sum begins at
    // minus 128 times the sum of its digits, which it will have been given too much.
    *column = static_cast<std::uint32_t>(-128 * sum);
  }
}

void split_weights(Index rows, const float* weights, const StoredRows& stored, std::int8_t* digits, float* units) {
  split(rows, weights, stored, digits, units);
}

std::span<const ByteUnit> byte_units() {
  static const std::array units = {tile_byte_unit(), dot_byte_unit()};
  if (!has_digit_products()) return {};
  return std::span(units).subspan(has_tile_products(TileNumbers::bytes) ? 0 : 1);
}

}  // namespace heed::kernels

#else

namespace heed::kernels {

void turn_digits(Index, Index, const std::int8_t*, Index, std::uint32_t*) { fail("turn_digits: there is no unit"); }
void split_weights(Index, const float*, const StoredRows&, std::int8_t*, float*) {
  fail("split_weights: there is no unit");
}
std::span<const ByteUnit> byte_units() { return {}; }

}  // namespace heed::kernels

#endif
