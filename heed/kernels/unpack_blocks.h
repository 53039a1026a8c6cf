// Rows of ggml's blocks (heed/tensor/blocks.h), unpacked to a byte without a sign for each number, and what 16 of them
// share: the form that products of bytes read (block_rows.h), and that is widened to f32 (widen_blocks.h).
//
//   unpack_blocks(blocks, {BlockType::q4_k, bytes, scale, less, 1, 2048});
#pragma once

#include <cstdint>

#include "heed/kernels/digit_rows.h"
#include "heed/tensor/blocks.h"

namespace heed::kernels {

inline constexpr Index kShareNumbers = 16, kShares = 16;  // numbers of a share, shares that are read together

// Rows of numbers scale * byte - less, in whole lines of bytes and whole sixteens of shares: those of one row after
// those of another.
struct UnpackedRows {
  BlockType type;
  std::uint8_t* bytes;  // [count, lines(), kDigitLine]
  float *scale, *less;  // [count, shares()]
  Index count, width;
  // What is unpacked after these, asked for while they are multiplied. Null: nothing is.
  const unsigned char* next = nullptr;
  Index next_bytes = 0;

  Index lines() const { return ceil_div(width, kDigitLine); }
  Index shares() const { return shares_of(width); }
  static Index shares_of(Index width) { return round_up(ceil_div(width, kShareNumbers), kShares); }
};

// Whether its integers need eight bits without a sign; those of others need six.
constexpr bool has_eight_bits(BlockType type) {
  return type == BlockType::q8_0 || type == BlockType::iq4_nl || type == BlockType::iq4_xs;
}

// What is taken from the integers of a type without minima, which are kept without a sign; 0 with minima.
constexpr float zero_of(BlockType type) {
  return type == BlockType::q4_0   ? 8
         : type == BlockType::q5_0 ? 16
         : type == BlockType::q6_k ? 32
         : type == BlockType::q3_k ? 4
         : has_eight_bits(type)    ? 128
                                   : 0;
}

// Unpacks `count` rows of whole blocks; what a last line has beside its numbers counts as zero. Throws heed::Error for
// a type that is no block.
void unpack_blocks(const unsigned char* blocks, const UnpackedRows& to);

}  // namespace heed::kernels
