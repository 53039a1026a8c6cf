#include "heed/kernels/unpack_blocks.h"

#include "heed/base/check.h"
#include "heed/kernels/digit_target.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <algorithm>
#include <cstring>

namespace heed::kernels {
namespace {

using Byte = unsigned char;
constexpr Index kHalf = 32;  // numbers: of a small block, and of a group of a large one

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
  _mm512_storeu_ps(to, _mm512_maskz_permutexvar_ps(kWords, each, _mm512_castps256_ps512(numbers)));
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
    const __m512 scale =
        _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kWords, _mm512_maskz_cvtepi8_epi32(kWords, scales)), _mm512_set1_ps(d));
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

}  // namespace heed::kernels

#else

namespace heed::kernels {

void unpack_blocks(const unsigned char*, const UnpackedRows&) { fail("unpack_blocks: there is no unit"); }

}  // namespace heed::kernels

#endif
