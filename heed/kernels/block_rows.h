// Products of rows of f32, as digits, with unpacked rows of ggml's blocks, by AVX-512's dot products of bytes.
//
//   const UnpackedRows rows{BlockType::q4_k, bytes, scale, less, 1, 2048};
//   unpack_blocks(blocks, rows);
//   block_products(x, rows, bias, {y, 1, 1});
#pragma once

#include <cstdint>

#include "heed/kernels/digit_rows.h"
#include "heed/kernels/unpack_blocks.h"

namespace heed::kernels {

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
