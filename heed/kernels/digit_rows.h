// Products of rows of f32 with rows of int8 in whole numbers, by AVX-512's dot products of bytes (VNNI): a row of f32
// becomes numbers of 24 bits times a power of two, each in three digits of 8. Their sums are exact, so that whoever
// adds them up, in any order, has the same bits.
//
//   if (has_digit_products()) {
//     split_digits(x, width, digits, &terms);
//     digit_products({digits, &terms, 1}, weights, bias, {y, width, 1});
//   }
#pragma once

#include <cstdint>

#include "heed/base/index.h"
#include "heed/kernels/stored_rows.h"

namespace heed::kernels {

// What a row stands for beside its digits.
struct DigitTerms {
  double unit;    // of its last digit, a power of two; NaN where a number of the row is not finite
  double offset;  // 128 times the sum of its numbers, in units
};

inline constexpr Index kDigits = 3, kDigitLine = 64;

// Bytes of a row's digits: those of one place after those of another, each with zeros up to whole lines.
constexpr Index digit_row_bytes(Index width) { return kDigits * ceil_div(width, kDigitLine) * kDigitLine; }

struct DigitRows {
  const std::int8_t* digits;  // [count, digit_row_bytes]
  const DigitTerms* terms;    // [count]
  Index count;
};

// Where products go: that of row r with stored row j to data[r * row + j * column].
struct ProductPlaces {
  float* data;
  Index row, column;
};

// Whether this machine has the unit, and the SIMD target in use is one with which it comes.
bool has_digit_products();

// x [width] in digits: rounded to the nearest multiple of the unit, of which the largest magnitude has 2^22 to 2^23. No
// unit is below 2^-126.
void split_digits(const float* x, Index width, std::int8_t* digits, DigitTerms* terms);

// y[r, j] = (the sum of x[r, :] stored[j, :]) * unit[r] * scale[j], rounded to f32, + bias[j]. The stored rows are i8
// with scales, of the digits' width, and are read once for four rows of x; `next` does not count. The more they are,
// the faster they come from memory. bias may be null.
void digit_products(const DigitRows& x, const StoredRows& stored, const float* bias, const ProductPlaces& y);

// The same where the products of each place's digits, from the highest on, have been summed: sums[place, j], j < count,
// of one row go to y[j * column].
void scale_digit_sums(const std::int32_t* sums, Index count, const DigitTerms& terms, const float* scales,
                      const float* bias, float* y, Index column);

}  // namespace heed::kernels
