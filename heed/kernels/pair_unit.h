// Products of bf16 matrices, summed in f32, by the widest unit that the processor has: AMX's tiles, or AVX-512's dot
// products. Both multiply pairs of numbers. A product of two bf16 is exact in f32, numbers below the smallest normal
// one count as zero, and each unit has an order of sums of its own, whatever m and n are.
//
//   const PairUnit* unit = pair_unit();  // null: none
//   unit->open();  unit->multiply({.m = 64, .n = 64, .k = 64, .a = x, ...});  unit->close();
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heed/base/float16.h"
#include "heed/base/index.h"
#include "heed/kernels/stored_rows.h"

namespace heed::kernels {

// Its sides are multiples of these: what lies beyond the numbers that count is zero.
inline constexpr Index kPairRows = 16, kPairDepth = 32;

// c = alpha a b, or c = c decay + a b, where the sums go on from c decay, rounded.
struct PairProduct {
  Index m, n, k;  // multiples of the unit's `rows`, of kPairRows and of kPairDepth
  const BFloat16* a;
  Index a_row;             // [m, k], from row to row; there is memory for a multiple of kPairRows of them, as in c
  const std::uint32_t* b;  // [k / 2, n]: row p has rows 2 p, in the lower halves, and 2 p + 1 of b
  Index b_row;
  float* c;
  Index c_row;  // [m, n]
  bool accumulate = false;
  const float* decay = nullptr;  // [n], where it accumulates; null: one
  float alpha = 1;               // where it does not
};

struct PairUnit {
  std::string_view name;
  Index rows;        // of a product, at least: a divisor of kPairRows
  Index tile_lanes;  // as many as it multiplies fastest with what a forward pass has beside them in the first cache
  // Around all products of a thread, and around row_products and row_sums of so many rows.
  void (*open)();
  void (*open_few_rows)(Index rows);
  void (*close)();
  void (*multiply)(const PairProduct& product);

  // The forms that products read. Each fills its result up to the multiples above, with zeros.
  // to[p * to_row + d] = rows 2 p and 2 p + 1 of x [rows, width].
  void (*pair_rows)(const BFloat16* x, Index x_row, Index rows, Index width, std::uint32_t* to, Index to_row);
  // to[r * to_row + lane] = x[r * lanes + lane], rounded to nearest even; lanes is a multiple of kPairRows.
  void (*round_rows)(const float* x, Index rows, Index lanes, BFloat16* to, Index to_row);

  // The same products of at most kFewRows rows with up to 64 that are read where they lie, once. A stored row's width
  // is a multiple of kPairDepth, and there is memory for a multiple of kPairRows rows.
  // products[r, j] = alpha a[r] . row_j, up to that multiple of j.
  void (*row_products)(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored, float alpha,
                       FewRows<float> products);
  // sums[r] = sums[r] decays[r] + sum_j weights[r, j] row_j, as a product with `decay`, with zeros for the weights
  // behind the last row; without decays there was nothing. Of a row of sums, a multiple of kPairRows floats, all are
  // written. There is memory for few_rows_for(rows) of them.
  void (*row_sums)(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                   const float* decays, FewRows<float> sums);
};

// Those that this machine has, the fastest first. None where the SIMD target in use is less than AVX-512.
std::span<const PairUnit> pair_units();

// The one in use; null where there is none, or none that outruns the multiply-adds of f32.
const PairUnit* pair_unit();

// Makes it one of pair_units(); null chooses again. For tests and measurements.
void force_pair_unit(const PairUnit* unit);

}  // namespace heed::kernels
