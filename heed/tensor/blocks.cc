#include "heed/tensor/blocks.h"

#include <cstring>

#include "heed/base/check.h"
#include "heed/base/float16.h"

namespace heed {
namespace {

using Byte = unsigned char;

float half_at(const Byte* at) {
  Float16 half{};
  std::memcpy(&half, at, sizeof half);
  return to_float(half);
}

// d, then for Q4_1 m, then 16 bytes: the low halves are the first 16 numbers, the high halves the last 16.
void widen_q4_0(const Byte* block, float* to) {
  const float d = half_at(block);
  const Byte* const q = block + 2;
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>((q[i] & 15) - 8) * d;
    to[i + 16] = static_cast<float>((q[i] >> 4) - 8) * d;
  }
}

void widen_q4_1(const Byte* block, float* to) {
  const float d = half_at(block), m = half_at(block + 2);
  const Byte* const q = block + 4;
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>(q[i] & 15) * d + m;
    to[i + 16] = static_cast<float>(q[i] >> 4) * d + m;
  }
}

// The same with 32 bits between, the fifth bit of each number.
int fifth_bit(const Byte* bits, int i) { return ((bits[i / 8] >> (i % 8)) & 1) << 4; }

void widen_q5_0(const Byte* block, float* to) {
  const float d = half_at(block);
  const Byte *const high = block + 2, *const q = block + 6;
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>(((q[i] & 15) | fifth_bit(high, i)) - 16) * d;
    to[i + 16] = static_cast<float>(((q[i] >> 4) | fifth_bit(high, i + 16)) - 16) * d;
  }
}

void widen_q5_1(const Byte* block, float* to) {
  const float d = half_at(block), m = half_at(block + 2);
  const Byte *const high = block + 4, *const q = block + 8;
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>((q[i] & 15) | fifth_bit(high, i)) * d + m;
    to[i + 16] = static_cast<float>((q[i] >> 4) | fifth_bit(high, i + 16)) * d + m;
  }
}

void widen_q8_0(const Byte* block, float* to) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) to[i] = static_cast<float>(static_cast<signed char>(block[2 + i])) * d;
}

// The scale and the minimum of 32 numbers, of which a block has eight. Twelve bytes hold them in 6 bits each: the first
// four bytes the scales 0 to 3, the next four their minima, the last four the low halves of the scales and minima 4 to
// 7, whose upper two bits are those of the first eight bytes.
struct ScaleAndMinimum {
  int scale, minimum;
};
ScaleAndMinimum scale_and_minimum(const Byte* packed, int group) {
  if (group < 4) return {packed[group] & 63, packed[group + 4] & 63};
  const int low = packed[group + 4];
  return {(low & 15) | (packed[group - 4] >> 6) << 4, (low >> 4) | (packed[group] >> 6) << 4};
}

// d, m, the twelve bytes, for Q5_K 32 bytes of fifth bits, and 128 bytes of low ones: of each 32, the low halves are 32
// numbers and the high halves the next 32. The fifth bits of group g are bit g of the 32 bytes.
void widen_k(const Byte* block, const Byte* high, const Byte* q, float* to) {
  const float d = half_at(block), m = half_at(block + 2);
  for (int group = 0; group < 8; ++group) {
    const auto [scale, minimum] = scale_and_minimum(block + 4, group);
    const float factor = d * static_cast<float>(scale), less = m * static_cast<float>(minimum);
    const Byte* const low = q + group / 2 * 32;
    const int shift = group % 2 * 4;
    float* const numbers = to + group * 32;
    if (high == nullptr) {
      for (int i = 0; i < 32; ++i) numbers[i] = factor * static_cast<float>((low[i] >> shift) & 15) - less;
    } else {
      for (int i = 0; i < 32; ++i) {
        const int fifth = ((high[i] >> group) & 1) << 4;
        numbers[i] = factor * static_cast<float>(((low[i] >> shift) & 15) | fifth) - less;
      }
    }
  }
}

void widen_q4_k(const Byte* block, float* to) { widen_k(block, nullptr, block + 16, to); }
void widen_q5_k(const Byte* block, float* to) { widen_k(block, block + 16, block + 48, to); }

// Two bits of number `e`, of which 32 bytes hold 128: byte i has the numbers i, 32 + i, 64 + i and 96 + i.
int two_bits(const Byte* packed, int e) { return (packed[e / 128 * 32 + e % 32] >> (e % 128 / 32 * 2)) & 3; }

// Sixteen bytes, each the scale of 16 numbers below and their minimum above, 64 bytes of two bits, d and m.
void widen_q2_k(const Byte* block, float* to) {
  const float d = half_at(block + 80), m = half_at(block + 82);
  for (int e = 0; e < 256; ++e) {
    const int both = block[e / 16];
    const float factor = d * static_cast<float>(both & 15), less = m * static_cast<float>(both >> 4);
    to[e] = factor * static_cast<float>(two_bits(block + 16, e)) - less;
  }
}

// 32 bytes of third bits, as the fifth ones of Q5_K, 64 bytes of two bits, twelve bytes of scales and d. A scale is of
// 16 numbers: the first eight bytes have the low halves of the scales 0 to 7 below and of 8 to 15 above; bits 2 j of
// byte i of the last four are the upper ones of scale 4 j + i.
void widen_q3_k(const Byte* block, float* to) {
  const Byte *const third = block, *const q = block + 32, *const packed = block + 96;
  const float d = half_at(block + 108);
  for (int e = 0; e < 256; ++e) {
    const int group = e / 16;
    const int scale = ((packed[group % 8] >> (group / 8 * 4)) & 15) | ((packed[8 + group % 4] >> (group / 4 * 2)) & 3)
                                                                          << 4;
    const int bits = two_bits(q, e) | ((third[e % 32] >> (e / 32)) & 1) << 2;
    to[e] = d * static_cast<float>(scale - 32) * static_cast<float>(bits - 4);
  }
}

// 16 bytes: the low halves are the first 16 numbers, the high halves the last 16.
void widen_levels(const Byte* q, float factor, float* to) {
  for (int i = 0; i < 16; ++i) {
    to[i] = factor * static_cast<float>(kBlockLevels[q[i] & 15]);
    to[i + 16] = factor * static_cast<float>(kBlockLevels[q[i] >> 4]);
  }
}

void widen_iq4_nl(const Byte* block, float* to) { widen_levels(block + 2, half_at(block), to); }

// d, the upper two bits of eight scales in 16, their low halves in four bytes, and eight times 16 bytes.
void widen_iq4_xs(const Byte* block, float* to) {
  const float d = half_at(block);
  const int high = block[2] | block[3] << 8;
  for (int group = 0; group < 8; ++group) {
    const int scale = ((block[4 + group / 2] >> (group % 2 * 4)) & 15) | ((high >> (2 * group)) & 3) << 4;
    widen_levels(block + 8 + 16 * group, d * static_cast<float>(scale - 32), to + 32 * group);
  }
}

// For each half of 128 numbers: 64 bytes of four low bits, 32 bytes of two high ones, eight scales for 16 numbers each;
// the low bits of both halves come first, and d last. Number i + 32 * part of a half has the low bits of byte i or i +
// 32, and bits 2 * part of the high byte i.
void widen_q6_k(const Byte* block, float* to) {
  const float d = half_at(block + 208);
  for (int half = 0; half < 2; ++half) {
    const Byte *const low = block + half * 64, *const high = block + 128 + half * 32,
                      *const scales = block + 192 + half * 8;
    for (int i = 0; i < 128; ++i) {
      const int part = i / 32, byte = low[i % 64];
      const int bits = (part < 2 ? byte & 15 : byte >> 4) | two_bits(high, i) << 4;
      const float factor = d * static_cast<float>(static_cast<signed char>(scales[i / 16]));
      to[half * 128 + i] = factor * static_cast<float>(bits - 32);
    }
  }
}

using Widen = void (*)(const Byte* block, float* to);

Widen widen_of(BlockType type) {
  switch (type) {
    case BlockType::q4_0:
      return widen_q4_0;
    case BlockType::q4_1:
      return widen_q4_1;
    case BlockType::q5_0:
      return widen_q5_0;
    case BlockType::q5_1:
      return widen_q5_1;
    case BlockType::q8_0:
      return widen_q8_0;
    case BlockType::q4_k:
      return widen_q4_k;
    case BlockType::q5_k:
      return widen_q5_k;
    case BlockType::q6_k:
      return widen_q6_k;
    case BlockType::q2_k:
      return widen_q2_k;
    case BlockType::q3_k:
      return widen_q3_k;
    case BlockType::iq4_nl:
      return widen_iq4_nl;
    case BlockType::iq4_xs:
      return widen_iq4_xs;
    default:
      fail("widen_blocks: {} is no type of blocks", name_of(type));
  }
}

}  // namespace

void widen_blocks(BlockType type, const unsigned char* blocks, Index count, float* to) {
  const Widen widen = widen_of(type);
  const BlockLayout layout = layout_of(type);
  for (Index i = 0; i < count; ++i) widen(blocks + i * layout.bytes, to + i * layout.numbers);
}

}  // namespace heed
