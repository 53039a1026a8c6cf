// Products of few rows of floats with keys and values of int8, in whole numbers (digit_rows.h): by AMX's tiles, or by
// AVX-512's dot products of bytes. Their sums are exact, so that both have the same bits, whatever stands beside a row.
//
//   split_digits(q, width, digits, &terms);  units[0] = terms.unit;  turn_digits(0, rows, digits, width, columns);
//   unit.products(rows, columns, units, keys, scale, {scores, 64});
//   split_weights(rows, weights, values, digits, units);
//   unit.sums(rows, digits, units, values, {sums, width});
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heed/kernels/digit_rows.h"
#include "heed/kernels/stored_rows.h"

namespace heed::kernels {

// Rows that are multiplied together, and the places of a row's digits beside one another: the last has only zeros. So
// many rows at most meet stored rows together, which are put in order once for all of them.
inline constexpr Index kByteRows = 4, kBytePlaces = 4, kMostByteRows = 16;
// Stored rows at most; there is one at least. Each is whole lines of kDigitLine, in memory for a multiple of kByteGroup
// rows. What lies behind the last number and the last row may be anything. Rows of up to kMostByteWidth numbers stay
// exact.
inline constexpr Index kByteKeys = 64, kByteGroup = 16, kMostByteWidth = 65536;

// Of the next kByteRows rows: 1, 2 or 4.
constexpr Index byte_rows_for(Index rows) { return few_rows_for(rows < kByteRows ? rows : kByteRows); }
// Words of 32 bits of the columns of kByteRows rows, or of fewer if there are fewer. The last of each column is what
// AVX-512's sums begin at.
constexpr Index digit_columns(Index rows, Index width) {
  return (ceil_div(width, kDigitLine) * kDigitLine / 4 + 1) * kBytePlaces * byte_rows_for(rows);
}

// Row `row` of `rows` rows, kByteRows at most: its digits, as split_digits() has them, as columns of words.
void turn_digits(Index row, Index rows, const std::int8_t* digits, Index width, std::uint32_t* columns);

// The digits of weights [rows, kByteKeys], each times the scale of its stored row, with zeros behind the last:
// [rows, kBytePlaces, kByteKeys], of which the last place is left as it is. units[r] is what split_digits() says.
void split_weights(Index rows, const float* weights, const StoredRows& stored, std::int8_t* digits, float* units);

// In `products` and `sums`, rows are at most kMostByteRows, and units[r] is that of row r. Digits and units are there
// for whole kByteRows of rows, or for byte_rows_for() of them where they are fewer; what stands behind the last row may
// be anything.
struct ByteUnit {
  std::string_view name;
  // Around the products of so many rows.
  void (*open)(Index rows);
  void (*close)();

  // products[r, j] = alpha ((x[r] . row_j) scale_j), in f32 from the sums of digits on, which are exact. `columns` has
  // those of kByteRows rows after those of the kByteRows rows before them.
  void (*products)(Index rows, const std::uint32_t* columns, const float* units, const StoredRows& stored, float alpha,
                   FewRows<float> products);
  // sums[r, d] = sum_j weights[r, j] row_j[d], likewise, without the scales, from the digits of kByteKeys weights of
  // each row: [rows, kBytePlaces, kByteKeys], with zeros for the keys behind the last and in the last place. Whole
  // lines of a row of sums are written.
  void (*sums)(Index rows, const std::int8_t* digits, const float* units, const StoredRows& stored,
               FewRows<float> sums);
};

// Those that this machine has, the fastest first. None where the SIMD target in use is less than AVX-512.
std::span<const ByteUnit> byte_units();

}  // namespace heed::kernels
