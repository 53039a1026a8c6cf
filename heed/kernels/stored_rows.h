// Products of few rows of floats with many rows that lie in memory, as a step of decoding meets keys and values: each
// of those is read once, widened in registers, and what is read next is asked for meanwhile.
//
//   row_products(4, q, keys, scale, {scores, 64});          // scores = scale Q K^T
//   row_sums(4, {scores, 64}, values, first, {sums, 128});  // sums += weights V
#pragma once

#include <type_traits>

#include "heed/base/index.h"
#include "heed/tensor/dtype.h"

namespace heed::kernels {

// Rows of a head, wherever they lie.
struct StoredRows {
  const void* data = nullptr;
  DType dtype = DType::f32;  // f32, bf16, f16 or i8
  Index count = 0, width = 0;
  Index row = 0;  // elements from row to row
  // i8: row j is data[j, :] * scales[j * scale_row], rounded to f32.
  const float* scales = nullptr;
  Index scale_row = 0;
  // Where the rows lie that are read after these, as far apart: asked for meanwhile, and need not be there. Null: none.
  const void* next = nullptr;
  // Not 0: what is asked for are the last `left_bytes` of these rows, then so many bytes there, all one after another;
  // and nothing else of these rows, for it has been or they are copies.
  Index next_bytes = 0, left_bytes = 0;

  void ask_for_nothing() { next = nullptr, next_bytes = left_bytes = 0; }
};

// Asks for the first lines of what is to be asked for by address (next_bytes), which then is less by them: a few, for
// work that comes before the rows are read.
void ask_for_some(StoredRows& stored);

// Some rows of floats.
template <typename Number>
struct FewRows {
  Number* data;
  Index row;  // floats from row to row
};

// How many rows, in the two functions below: 1, 2, 4 or 8.
inline constexpr Index kFewRows = 8;
constexpr Index few_rows_for(Index rows) { return rows <= 1 ? 1 : rows <= 2 ? 2 : rows <= 4 ? 4 : kFewRows; }

// Calls f with that number as a constant, at most kMost.
template <Index kMost = kFewRows, typename F>
void for_few_rows(Index rows, const F& f) {
  if (rows <= 1) return f(std::integral_constant<int, 1>());
  if (rows <= 2) return f(std::integral_constant<int, 2>());
  if constexpr (kMost > 4) {
    if (rows > 4) return f(std::integral_constant<int, kFewRows>());
  }
  f(std::integral_constant<int, 4>());
}

// products[n, j] = alpha * sum_d q[d, n] row_j[d], n < rows. The bits are those of gemm_tile() in chains (in_chains)
// over the widened rows.
void row_products(Index rows, const float* q, const StoredRows& stored, float alpha, FewRows<float> products);

// sums[n, d] = sum_j weights[n, j] row_j[d], or that chain continued from sums where it is not the `first` part. The
// bits are those of gemm_tile() over the widened rows.
void row_sums(Index rows, FewRows<const float> weights, const StoredRows& stored, bool first, FewRows<float> sums);

}  // namespace heed::kernels
