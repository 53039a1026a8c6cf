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

// Transposes a whole block of rows, of which the last may be missing.
HWY_INLINE void load_transposed(Index rows, const float* x, Index x_row, Vector (&block)[kLanes]) {
  const Floats d;
#if HWY_TARGET != HWY_SCALAR
  // Four rows' quarters of a vector are put together as they are read, which leaves half of the exchanges.
  if constexpr (kLanes == 16) {
    HWY_ALIGN static constexpr float kNone[kLanes] = {};
    const float* from[kLanes];
    for (Index r = 0; r < kLanes; ++r) from[r] = r < rows ? x + r * x_row : kNone;
    const hn::RepartitionToWide<Floats> pairs;
    HWY_UNROLL(4)
    for (Index quarter = 0; quarter < 4; ++quarter) {
      Vector part[4];
      HWY_UNROLL(4)
      for (Index r = 0; r < 4; ++r) {
        const auto read = [&](Index row) HWY_ATTR { return hn::LoadDup128(d, from[row] + 4 * quarter); };
        part[r] = hn::ConcatUpperLower(d, hn::OddEvenBlocks(read(r + 12), read(r + 8)),
                                       hn::OddEvenBlocks(read(r + 4), read(r)));
      }
      const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, part[0], part[1]));
      const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, part[2], part[3]));
      const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, part[0], part[1]));
      const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, part[2], part[3]));
      block[4 * quarter] = hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23));
      block[4 * quarter + 1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23));
      block[4 * quarter + 2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23));
      block[4 * quarter + 3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23));
    }
    return;
  }
#endif
  for (Index r = 0; r < kLanes; ++r) block[r] = r < rows ? hn::LoadU(d, x + r * x_row) : hn::Zero(d);
  transpose_block(block);
}

void to_lanes_kernel(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  const Floats d;
  for (Index row = 0; row < lanes; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      const float* const from = x + row * x_row + column;
      Vector block[kLanes];
      if (column + kLanes <= columns) {
        load_transposed(rows - row, from, x_row, block);
        for (Index r = 0; r < kLanes; ++r) hn::StoreU(block[r], d, to + (column + r) * lanes + row);
        continue;
      }
      for (Index r = 0; r < kLanes; ++r) {
        block[r] = row + r < rows ? load_first(from + r * x_row, columns - column) : hn::Zero(d);
      }
      transpose_block(block);
      for (Index r = 0; r < columns - column; ++r) hn::StoreU(block[r], d, to + (column + r) * lanes + row);
    }
}

void from_lanes_kernel(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                       Index x_row) {
  const Floats d;
  for (Index row = 0; row < rows; row += kLanes) {
    const Vector scale = factor != nullptr ? hn::LoadU(d, factor + row) : hn::Set(d, 1.0f);
    for (Index column = 0; column < columns; column += kLanes) {
      Vector block[kLanes];
      for (Index r = 0; r < kLanes; ++r) {
        block[r] = column + r < columns ? hn::Mul(hn::LoadU(d, from + (column + r) * lanes + row), scale) : hn::Zero(d);
      }
      transpose_block(block);
      const Index present = std::min(rows - row, kLanes);
      for (Index r = 0; r < present; ++r) store_first(block[r], x + (row + r) * x_row + column, columns - column);
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
