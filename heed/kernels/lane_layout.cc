#include "heed/kernels/lane_layout.h"

#include <algorithm>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/lane_layout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// Rows are read, or written, a block of columns at a time, an order that no processor guesses: each block asks for the
// lines that begin in the one below it, whether or not that belongs to the call.
template <int kWrite>
HWY_INLINE void ask_below(const float* block, Index x_row, Index column) {
  constexpr Index kLine = 16;  // floats
  if (column % kLine != 0) return;
  HWY_UNROLL(16)
  for (Index r = kLanes; r < 2 * kLanes; ++r) __builtin_prefetch(block + r * x_row, kWrite);
}

void to_lanes_kernel(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  const Floats d;
  for (Index row = 0; row < lanes; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      const float* const from = x + row * x_row + column;
      ask_below<0>(from, x_row, column);
      Vector block[kLanes];
      for (Index r = 0; r < kLanes; ++r) {
        block[r] = row + r < rows ? load_first(from + r * x_row, columns - column) : hn::Zero(d);
      }
      transpose_block(block);
      const Index present = std::min(columns - column, kLanes);
      for (Index r = 0; r < present; ++r) hn::StoreU(block[r], d, to + (column + r) * lanes + row);
    }
}

void from_lanes_kernel(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                       Index x_row) {
  const Floats d;
  for (Index row = 0; row < rows; row += kLanes) {
    const Vector scale = factor != nullptr ? hn::LoadU(d, factor + row) : hn::Set(d, 1.0f);
    for (Index column = 0; column < columns; column += kLanes) {
      float* const to = x + row * x_row + column;
      ask_below<1>(to, x_row, column);
      Vector block[kLanes];
      for (Index r = 0; r < kLanes; ++r) {
        block[r] = column + r < columns ? hn::Mul(hn::LoadU(d, from + (column + r) * lanes + row), scale) : hn::Zero(d);
      }
      transpose_block(block);
      const Index present = std::min(rows - row, kLanes);
      for (Index r = 0; r < present; ++r) store_first(block[r], to + r * x_row, columns - column);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(to_lanes_kernel);
HEED_EXPORT(from_lanes_kernel);

void rows_to_lanes(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  HEED_DISPATCH(to_lanes_kernel)(rows, columns, x, x_row, to, lanes);
}

void lanes_to_rows(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                   Index x_row) {
  HEED_DISPATCH(from_lanes_kernel)(rows, columns, from, lanes, factor, x, x_row);
}

}  // namespace heed::kernels
#endif
