// Products of rows of f32, as digits, with rows of ggml's blocks (heed/tensor/blocks.h), by AVX-512's dot products of
// bytes. A row of blocks is unpacked first: to a byte without a sign for each number, and what 16 of them share.
//
//   const UnpackedRows rows{BlockType::q4_k, bytes, scale, less, 1, 2048};
//   unpack_blocks(blocks, rows);
//   block_products(x, rows, bias, {y, 1, 1});
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

// Unpacks `count` rows of whole blocks. What a last line has beside its numbers counts as zero. The unit must be there
// (has_digit_products), as for all that follows.
void unpack_blocks(const unsigned char* blocks, const UnpackedRows& to);

// Rows in digits, and what the numbers of each share add up to, rounded to f32.
struct SummedDigitRows {
  DigitRows rows;
  const float* sums;  // [count, shares_of(width)]
};
void sum_digits(const std::int8_t* digits, Index width, float* sums);

// y[r, j] = unit[r] * (the sum of x[r, :] stored[j, :]), rounded to f32, + bias[j]; bias may be null. A sum of four
// products is exact until it is multiplied by its scale; those of a lane add up in f32 along the row, less after scale,
// and the lanes in pairs in the end. A row of y depends, to the bit, on that row of x alone.
void block_products(const SummedDigitRows& x, const UnpackedRows& stored, const float* bias, const ProductPlaces& y);

}  // namespace heed::kernels
