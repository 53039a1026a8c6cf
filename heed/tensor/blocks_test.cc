#include "heed/tensor/blocks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "heed/base/float16.h"
#include "heed/testing/random_blocks.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_blocks;
using testing::refusal;

using Byte = unsigned char;

float half(const Byte* at) { return to_float(Float16{static_cast<std::uint16_t>(at[0] | at[1] << 8)}); }

int bit(const Byte* bytes, int i) { return bytes[i / 8] >> i % 8 & 1; }
int nibble(const Byte* bytes, int i) { return bytes[i / 2] >> 4 * (i % 2) & 15; }
// `bits` bits of an integer that begins at bit `at`.
int field(const Byte* bytes, int at, int bits) {
  int value = 0;
  for (int i = 0; i < bits; ++i) value |= bit(bytes, at + i) << i;
  return value;
}

// The number `e` of a block, from the description of the format alone: what of it lies where, bit by bit.

// 16 bytes hold 32 numbers of four bits: byte j has number j in its lower half and number j + 16 in its upper one.
int four_bits(const Byte* q, int e) { return nibble(q, 2 * (e % 16) + e / 16); }

float q4_0(const Byte* block, int e) { return static_cast<float>(four_bits(block + 2, e) - 8) * half(block); }
float q4_1(const Byte* block, int e) {
  const float product = static_cast<float>(four_bits(block + 4, e)) * half(block);
  return product + half(block + 2);
}
float q5_0(const Byte* block, int e) {
  return static_cast<float>(four_bits(block + 6, e) + 16 * bit(block + 2, e) - 16) * half(block);
}
float q5_1(const Byte* block, int e) {
  const float product = static_cast<float>(four_bits(block + 8, e) + 16 * bit(block + 4, e)) * half(block);
  return product + half(block + 2);
}
float q8_0(const Byte* block, int e) {
  const int q = block[2 + e];
  return static_cast<float>(q < 128 ? q : q - 256) * half(block);
}

// Of a super-block's eight scales and eight minima of six bits, in 96 bits.
int k_scale(const Byte* packed, int j) {
  return j < 4 ? field(packed, 8 * j, 6) : field(packed, 64 + 8 * (j - 4), 4) + 16 * field(packed, 8 * (j - 4) + 6, 2);
}
int k_minimum(const Byte* packed, int j) {
  return j < 4 ? field(packed, 32 + 8 * j, 6)
               : field(packed, 64 + 8 * (j - 4) + 4, 4) + 16 * field(packed, 32 + 8 * (j - 4) + 6, 2);
}
// 64 numbers are in 32 bytes: byte j has number j below and number j + 32 above.
int k_low(const Byte* q, int e) { return nibble(q + e / 64 * 32, 2 * (e % 32) + e / 32 % 2); }

float k_number(const Byte* block, int e, int q) {
  const float factor = half(block) * static_cast<float>(k_scale(block + 4, e / 32));
  const float less = half(block + 2) * static_cast<float>(k_minimum(block + 4, e / 32));
  const float product = factor * static_cast<float>(q);
  return product - less;
}
float q4_k(const Byte* block, int e) { return k_number(block, e, k_low(block + 16, e)); }
float q5_k(const Byte* block, int e) {
  return k_number(block, e, k_low(block + 48, e) + 16 * bit(block + 16 + e % 32, e / 32));
}
// Number e has its four lower bits among 128 bytes of two for each (64 bytes for a half of 128 numbers, of which byte j
// has number j below and j + 64 above), and its two upper bits among 64 bytes of four for each (byte j has j, j + 32, j
// + 64 and j + 96 of its half).
float q6_k(const Byte* block, int e) {
  const int half_block = e / 128, i = e % 128;
  const int low = nibble(block + 64 * half_block, 2 * (i % 64) + i / 64);
  const int high = field(block + 128 + 32 * half_block, 8 * (i % 32) + 2 * (i / 32), 2);
  const int scale = block[192 + e / 16];
  const float factor = half(block + 208) * static_cast<float>(scale < 128 ? scale : scale - 256);
  return factor * static_cast<float>(low + 16 * high - 32);
}

// 64 bytes of four numbers each: byte j of a half of 32 has the numbers j, j + 32, j + 64 and j + 96 of its 128.
int two_bits(const Byte* q, int e) { return field(q + e / 128 * 32, 8 * (e % 32) + 2 * (e % 128 / 32), 2); }

float q2_k(const Byte* block, int e) {
  const float factor = half(block + 80) * static_cast<float>(nibble(block, 2 * (e / 16)));
  const float less = half(block + 82) * static_cast<float>(nibble(block, 2 * (e / 16) + 1));
  const float product = factor * static_cast<float>(two_bits(block + 16, e));
  return product - less;
}
// Sixteen scales in 96 bits: the four lower ones of scale j are half j / 8 of byte j % 8, the two upper ones are pair
// j / 4 of byte 8 + j % 4.
float q3_k(const Byte* block, int e) {
  const int j = e / 16;
  const int scale = nibble(block + 96, 2 * (j % 8) + j / 8) + 16 * field(block + 96, 8 * (8 + j % 4) + 2 * (j / 4), 2);
  const float factor = half(block + 108) * static_cast<float>(scale - 32);
  return factor * static_cast<float>(two_bits(block + 32, e) + 4 * bit(block + e % 32, e / 32) - 4);
}

constexpr int kLevels[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
float iq4_nl(const Byte* block, int e) { return half(block) * static_cast<float>(kLevels[four_bits(block + 2, e)]); }
float iq4_xs(const Byte* block, int e) {
  const int j = e / 32, scale = nibble(block + 4, j) + 16 * field(block + 2, 2 * j, 2);
  const float factor = half(block) * static_cast<float>(scale - 32);
  return factor * static_cast<float>(kLevels[four_bits(block + 8 + 16 * j, e % 32)]);
}

using Number = float (*)(const Byte* block, int e);
const std::vector<std::pair<BlockType, Number>> kNumbers = {
    {BlockType::q4_0, q4_0}, {BlockType::q4_1, q4_1}, {BlockType::q5_0, q5_0},     {BlockType::q5_1, q5_1},
    {BlockType::q8_0, q8_0}, {BlockType::q4_k, q4_k}, {BlockType::q5_k, q5_k},     {BlockType::q6_k, q6_k},
    {BlockType::q2_k, q2_k}, {BlockType::q3_k, q3_k}, {BlockType::iq4_nl, iq4_nl}, {BlockType::iq4_xs, iq4_xs},
};

TEST(Blocks, AreTheNumbersOfTheFormatsDescription) {
  for (const auto& [type, number] : kNumbers) {
    const Index count = 50, width = layout_of(type).numbers;
    const Tensor blocks = random_blocks(type, count, width, 7);
    std::vector<float> numbers(static_cast<std::size_t>(count * width));
    widen_blocks(type, blocks.data<Byte>(), count, numbers.data());
    for (Index i = 0; i < count * width; ++i) {
      const float expected = number(blocks.rows(i / width, count).data<Byte>(), static_cast<int>(i % width));
      ASSERT_TRUE(std::isfinite(expected));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(numbers[static_cast<std::size_t>(i)]),
                std::bit_cast<std::uint32_t>(expected))
          << name_of(type) << " " << i;
    }
  }
}

// Blocks whose numbers anybody can reckon out.
TEST(Blocks, OfOneNumberEachAreThatNumber) {
  const auto widen = [](BlockType type, std::vector<Byte> block) {
    block.resize(static_cast<std::size_t>(layout_of(type).bytes));
    std::vector<float> numbers(static_cast<std::size_t>(layout_of(type).numbers));
    widen_blocks(type, block.data(), 1, numbers.data());
    return numbers;
  };
  const Byte one[] = {0x00, 0x3C}, two[] = {0x00, 0x40};
  // d = 2, m = 1: nibbles 15 and 0.
  EXPECT_EQ(widen(BlockType::q4_0, {two[0], two[1], 0x0F})[0], 14);
  EXPECT_EQ(widen(BlockType::q4_0, {two[0], two[1], 0x0F})[16], -16);
  EXPECT_EQ(widen(BlockType::q4_1, {two[0], two[1], one[0], one[1], 0xF0})[16], 31);
  EXPECT_EQ(widen(BlockType::q5_0, {two[0], two[1], 1, 0, 0, 0, 0x0F})[0], 30);
  EXPECT_EQ(widen(BlockType::q5_1, {two[0], two[1], one[0], one[1], 0, 0, 1, 0})[16], 33);
  EXPECT_EQ(widen(BlockType::q8_0, {two[0], two[1], 0x80})[0], -256);
  // d = 2, m = 1, the first group's scale 3 and minimum 5, the first number 7: 2 * 3 * 7 - 1 * 5.
  EXPECT_EQ(widen(BlockType::q4_k, {two[0], two[1], one[0], one[1], 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7})[0], 37);
  EXPECT_EQ(widen(BlockType::iq4_nl, {two[0], two[1], 0x0F})[0], 226);
  EXPECT_EQ(widen(BlockType::iq4_nl, {two[0], two[1], 0x0F})[16], -254);
  // d = 2, m = 1; number 32 is the second of byte 0, in group 2 of scale 3 and minimum 5: 2 * 3 * 2 - 1 * 5.
  std::vector<Byte> block(84);
  block[2] = 0x53, block[16] = 2 << 2, block[80] = two[0], block[81] = two[1], block[82] = one[0], block[83] = one[1];
  EXPECT_EQ(widen(BlockType::q2_k, block)[32], 7);
  // d = 2; number 33 has the low bits of byte 1 and bit 1 of byte 1, and scale 2, 17 + 32: 2 * 17 * (3 + 4 - 4).
  block.assign(110, 0);
  block[1] = 2, block[33] = 3 << 2, block[98] = 1, block[106] = 3, block[108] = two[0], block[109] = two[1];
  EXPECT_EQ(widen(BlockType::q3_k, block)[33], 102);
  // d = 2; the second 32 numbers, of scale 1 + 2 * 16 and the fifth level.
  block.assign(136, 0);
  block[0] = two[0], block[1] = two[1], block[2] = 2 << 2, block[4] = 1 << 4, block[24] = 4;
  EXPECT_EQ(widen(BlockType::iq4_xs, block)[32], -98);
}

TEST(Blocks, NoBlocksAreNone) {
  float number = 0;
  EXPECT_EQ(refusal([&] { widen_blocks(BlockType::none, nullptr, 0, &number); }),
            "widen_blocks: none is no type of blocks");
}

}  // namespace
}  // namespace heed
