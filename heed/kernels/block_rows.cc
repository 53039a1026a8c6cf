#include "heed/kernels/block_rows.h"

#include <hwy/detect_targets.h>

#include "heed/base/check.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "heed/kernels/lines_below.h"

#define HEED_DIGIT_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c")))
#define HEED_DIGIT_INLINE HEED_DIGIT_TARGET __attribute__((always_inline)) inline

namespace heed::kernels {
namespace {

using Byte = unsigned char;
constexpr Index kHalf = 32;  // numbers: of a small block, and of a group of a large one

// A GCC 12 that sees no mask warns of what it leaves undefined.
constexpr __mmask16 kAll = 0xFFFF;
constexpr __mmask8 kEights = 0xFF;

HEED_DIGIT_INLINE __m512 in_f32(__m512i numbers) { return _mm512_maskz_cvtepi32_ps(kAll, numbers); }

HEED_DIGIT_INLINE float half_at(const Byte* at) {
  std::uint16_t half;
  std::memcpy(&half, at, sizeof half);
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
}

HEED_DIGIT_INLINE __m256i load_half(const Byte* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }
HEED_DIGIT_INLINE void store_half(__m256i numbers, std::uint8_t* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), numbers);
}
HEED_DIGIT_INLINE __m256i lower_nibbles(__m256i bytes) { return _mm256_and_si256(bytes, _mm256_set1_epi8(15)); }
HEED_DIGIT_INLINE __m256i upper_nibbles(__m256i bytes) { return lower_nibbles(_mm256_srli_epi16(bytes, 4)); }

// Where a row's numbers go.
struct UnpackedRow {
  std::uint8_t* bytes;
  float *scale, *less;
};

// What half `nth` of a row has in common.
HEED_DIGIT_INLINE void share(const UnpackedRow& to, Index nth, float scale, float less) {
  to.scale[2 * nth] = to.scale[2 * nth + 1] = scale;
  to.less[2 * nth] = to.less[2 * nth + 1] = less;
}

// What lies where in a block is said in heed/tensor/blocks.cc.

// Four or five bits: d, with a minimum m, with fifth bits, and 16 bytes. Of the number 2^4 or 2^5 half is taken away.
template <bool kMinimum, bool kFifth>
HEED_DIGIT_TARGET void unpack_simple(const Byte* block, Index blocks, UnpackedRow to) {
  constexpr int kHead = kMinimum ? 4 : 2, kHigh = kFifth ? 4 : 0;
  constexpr float kZero = kFifth ? 16 : 8;
  for (Index n = 0; n < blocks; ++n, block += kHead + kHigh + 16) {
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + kHead + kHigh));
    const __m128i upper = _mm_srli_epi16(packed, 4);
    __m256i numbers = lower_nibbles(_mm256_inserti128_si256(_mm256_castsi128_si256(packed), upper, 1));
    if constexpr (kFifth) {
      std::uint32_t fifth;
      std::memcpy(&fifth, block + kHead, sizeof fifth);
      numbers = _mm256_mask_add_epi8(numbers, fifth, numbers, _mm256_set1_epi8(16));
    }
    store_half(numbers, to.bytes + n * kHalf);
    const float d = half_at(block);
    share(to, n, d, kMinimum ? -half_at(block + 2) : kZero * d);
  }
}

HEED_DIGIT_TARGET void unpack_q8_0(const Byte* block, Index blocks, UnpackedRow to) {
  for (Index n = 0; n < blocks; ++n, block += 34) {
    store_half(_mm256_xor_si256(load_half(block + 2), _mm256_set1_epi8(-128)), to.bytes + n * kHalf);
    const float d = half_at(block);
    share(to, n, d, 128 * d);
  }
}

// The scales and minima of eight groups, of six bits each, from twelve bytes: eight bytes of each.
HEED_DIGIT_INLINE void unpack_scales(const Byte* packed, std::uint64_t& scales, std::uint64_t& minima) {
  std::uint32_t words[3];
  std::memcpy(words, packed, sizeof words);
  constexpr std::uint32_t kSix = 0x3F3F3F3F, kFour = 0x0F0F0F0F, kTwo = 0x30303030;
  const auto both = [](std::uint32_t lower, std::uint32_t upper) { return lower | std::uint64_t{upper} << 32; };
  scales = both(words[0] & kSix, (words[2] & kFour) | (words[0] >> 2 & kTwo));
  minima = both(words[1] & kSix, (words[2] >> 4 & kFour) | (words[1] >> 2 & kTwo));
}

// factor times eight bytes without a sign.
HEED_DIGIT_INLINE __m256 scaled_bytes(std::uint64_t bytes, float factor) {
  const __m256i numbers = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes)));
  return _mm256_mul_ps(_mm256_cvtepi32_ps(numbers), _mm256_set1_ps(factor));
}

// Eight numbers, each twice.
HEED_DIGIT_INLINE void store_twice(__m256 numbers, float* to) {
  const __m512i each = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  _mm512_storeu_ps(to, _mm512_maskz_permutexvar_ps(kAll, each, _mm512_castps256_ps512(numbers)));
}

template <bool kFifth>
HEED_DIGIT_TARGET void unpack_k(const Byte* block, Index blocks, UnpackedRow to) {
  constexpr int kHigh = 16, kLow = kFifth ? 48 : 16;
  for (Index n = 0; n < blocks; ++n, block += kLow + 128) {
    std::uint64_t scales = 0, minima = 0;
    unpack_scales(block + 4, scales, minima);
    store_twice(scaled_bytes(scales, half_at(block)), to.scale + n * 16);
    store_twice(scaled_bytes(minima, half_at(block + 2)), to.less + n * 16);
    for (int pair = 0; pair < 4; ++pair, to.bytes += kDigitLine) {
      const __m256i packed = load_half(block + kLow + pair * kHalf);
      __m256i lower = lower_nibbles(packed), upper = upper_nibbles(packed);
      if constexpr (kFifth) {
        const __m256i high = load_half(block + kHigh), sixteen = _mm256_set1_epi8(16);
        const auto bit = [](int group) HEED_DIGIT_TARGET { return _mm256_set1_epi8(static_cast<char>(1 << group)); };
        lower = _mm256_mask_add_epi8(lower, _mm256_test_epi8_mask(high, bit(2 * pair)), lower, sixteen);
        upper = _mm256_mask_add_epi8(upper, _mm256_test_epi8_mask(high, bit(2 * pair + 1)), upper, sixteen);
      }
      store_half(lower, to.bytes), store_half(upper, to.bytes + kHalf);
    }
  }
}

HEED_DIGIT_TARGET void unpack_q6_k(const Byte* block, Index blocks, UnpackedRow to) {
  const __m256i two = _mm256_set1_epi8(0x30);
  for (Index n = 0; n < blocks; ++n, block += 210) {
    const float d = half_at(block + 208);
    for (int half = 0; half < 2; ++half) {
      const __m256i first = load_half(block + 64 * half), second = load_half(block + 64 * half + kHalf),
                    high = load_half(block + 128 + 32 * half);
      const auto bits = [&](int left) HEED_DIGIT_TARGET {
        return _mm256_and_si256(left >= 0 ? _mm256_slli_epi16(high, left) : _mm256_srli_epi16(high, -left), two);
      };
      store_half(_mm256_or_si256(lower_nibbles(first), bits(4)), to.bytes);
      store_half(_mm256_or_si256(lower_nibbles(second), bits(2)), to.bytes + kHalf);
      store_half(_mm256_or_si256(upper_nibbles(first), bits(0)), to.bytes + 2 * kHalf);
      store_half(_mm256_or_si256(upper_nibbles(second), bits(-2)), to.bytes + 3 * kHalf);
      to.bytes += 4 * kHalf;
    }
    const __m128i scales = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 192));
    const __m512 scale = _mm512_mul_ps(in_f32(_mm512_maskz_cvtepi8_epi32(kAll, scales)), _mm512_set1_ps(d));
    _mm512_storeu_ps(to.scale + n * 16, scale);
    _mm512_storeu_ps(to.less + n * 16, _mm512_mul_ps(scale, _mm512_set1_ps(32)));
  }
}

using Unpack = void (*)(const Byte*, Index, UnpackedRow);
Unpack unpack_of(BlockType type) {
  switch (type) {
    case BlockType::q4_0:
      return unpack_simple<false, false>;
    case BlockType::q4_1:
      return unpack_simple<true, false>;
    case BlockType::q5_0:
      return unpack_simple<false, true>;
    case BlockType::q5_1:
      return unpack_simple<true, true>;
    case BlockType::q8_0:
      return unpack_q8_0;
    case BlockType::q4_k:
      return unpack_k<false>;
    case BlockType::q5_k:
      return unpack_k<true>;
    case BlockType::q6_k:
      return unpack_q6_k;
    case BlockType::none:
      break;
  }
  fail("unpack_blocks: {} is no block", name_of(type));
}

// sum * 256 + the products of bytes and digits, of four numbers in each lane.
HEED_DIGIT_INLINE __m512i next_digit(__m512i sum, __m512i bytes, const std::int8_t* digits) {
  return _mm512_dpbusd_epi32(_mm512_maskz_slli_epi32(kAll, sum, 8), bytes, _mm512_loadu_si512(digits));
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
    fours = _mm512_add_epi32(fours, _mm512_maskz_shuffle_epi32(kAll, fours, _MM_PERM_BADC));
    fours = _mm512_add_epi32(fours, _mm512_maskz_shuffle_epi32(kAll, fours, _MM_PERM_CDAB));
    constexpr __mmask16 kFirstOfFour = 0x1111;
    const __m512i sixteens = _mm512_maskz_compress_epi32(kFirstOfFour, fours);
    constexpr __mmask16 kFour = 0xF;
    _mm512_mask_storeu_ps(sums + at / kShareNumbers, kFour, in_f32(sixteens));
  }
}

// One of four numbers for each four lanes.
HEED_DIGIT_INLINE __m512 spread(const float* four) {
  const __m512i each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  return _mm512_maskz_permutevar_ps(kAll, _mm512_maskz_broadcast_f32x4(kAll, _mm_loadu_ps(four)), each);
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
  const LinesBelow below({.count = stored.count, .next = stored.next, .next_bytes = stored.next_bytes}, place, place,
                         O);
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
        if (stored.next_bytes > 0) below.ask_beside(j, line);
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

}  // namespace

void unpack_blocks(const unsigned char* blocks, const UnpackedRows& to) {
  const BlockType type = to.type;
  const Unpack unpack = unpack_of(type);
  const Index lines = to.lines(), shares = to.shares(), count = to.width / layout_of(type).numbers;
  for (Index j = 0; j < to.count; ++j, blocks += count * layout_of(type).bytes) {
    const UnpackedRow row{to.bytes + j * lines * kDigitLine, to.scale + j * shares, to.less + j * shares};
    const Index known = to.width / kShareNumbers;  // the rest are zeros times what lies there
    std::fill(row.scale + known, row.scale + shares, 0.0f), std::fill(row.less + known, row.less + shares, 0.0f);
    unpack(blocks, count, row);
  }
}

void sum_digits(const std::int8_t* digits, Index width, float* sums) { sum_shares(digits, width, sums); }

namespace {

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

void block_products(const SummedDigitRows& x, const UnpackedRows& stored, const float* bias, const ProductPlaces& y) {
  (stored.type == BlockType::q8_0 ? products_of_all<true> : products_of_all<false>)(x, stored, bias, y);
}

}  // namespace heed::kernels

#else

namespace heed::kernels {

void unpack_blocks(const unsigned char*, const UnpackedRows&) { fail("unpack_blocks: there is no unit"); }
void sum_digits(const std::int8_t*, Index, float*) { fail("sum_digits: there is no unit"); }
void block_products(const SummedDigitRows&, const UnpackedRows&, const float*, const ProductPlaces&) {
  fail("block_products: there is no unit");
}

}  // namespace heed::kernels

#endif
