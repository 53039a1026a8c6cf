// Blocks in which numbers of two to eight bits share scales, as ggml packs them: weights of GGUF files.
//
//   layout_of(BlockType::q4_k).numbers == 256 && layout_of(BlockType::q4_k).bytes == 144;
//   const Tensor bytes = Tensor::empty(DType::i8, {512, bytes_of_row(BlockType::q4_k, 2048)});       // [512, 2048]
//   std::vector<float> row(2048);
//   widen_blocks(BlockType::q4_k, bytes.data<unsigned char>(), 2048 / 256, row.data());
#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

enum class BlockType : std::uint8_t {
  none,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  q2_k,
  q3_k,
  iq4_nl,
  iq4_xs
};

// A block is of so many numbers, which follow each other along a row, in so many bytes.
struct BlockLayout {
  Index numbers = 1, bytes = 0;
};

constexpr BlockLayout layout_of(BlockType type) {
  constexpr BlockLayout kLayouts[] = {{1, 0},     {32, 18},   {32, 20},  {32, 22},   {32, 24}, {32, 34},  {256, 144},
                                      {256, 176}, {256, 210}, {256, 84}, {256, 110}, {32, 18}, {256, 136}};
  return kLayouts[static_cast<int>(type)];
}

// "Q4_K", as ggml calls it.
constexpr std::string_view name_of(BlockType type) {
  constexpr std::string_view kNames[] = {"none", "Q4_0", "Q4_1", "Q5_0", "Q5_1",   "Q8_0",  "Q4_K",
                                         "Q5_K", "Q6_K", "Q2_K", "Q3_K", "IQ4_NL", "IQ4_XS"};
  return kNames[static_cast<int>(type)];
}

// The bytes of a row of whole blocks.
constexpr Index bytes_of_row(BlockType type, Index numbers) {
  return numbers / layout_of(type).numbers * layout_of(type).bytes;
}

// What the integers of IQ4_NL and IQ4_XS stand for: levels that lie closer where more weights do.
inline constexpr signed char kBlockLevels[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};

// Writes the numbers of `count` blocks, f32. In what follows d, m are the f16 numbers of a block, q an integer of as
// many bits as the name says, s, t integers of 6 bits for each 32 numbers (Q6_K: s of 8 bits, signed, for each 16;
// Q3_K: for each 16; Q2_K: of 4 bits for each 16):
//
//   Q4_0, Q5_0, Q8_0   d * (q - 8), d * (q - 16), d * q       32 numbers
//   Q4_1, Q5_1         d * q + m                              32 numbers
//   Q2_K, Q4_K, Q5_K   (d * s) * q - (m * t)                  256 numbers
//   Q3_K               (d * (s - 32)) * (q - 4)               256 numbers
//   Q6_K               (d * s) * (q - 32)                     256 numbers
//   IQ4_NL             d * kBlockLevels[q]                    32 numbers
//   IQ4_XS             (d * (s - 32)) * kBlockLevels[q]       256 numbers
//
// each product and sum rounded to f32, as ggml's own definition (dequantize_row_* in ggml-quants.c) rounds them. The
// bytes may lie at any address. Throws heed::Error for a type that is no block.
void widen_blocks(BlockType type, const unsigned char* blocks, Index count, float* to);

}  // namespace heed
