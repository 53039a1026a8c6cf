#include "heed/kernels/lane_layout.h"

#include <algorithm>

#include "heed/kernels/dispatch.h"

// The blocks keep vectors in arrays, which vectors of unknown size cannot be.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/lane_layout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

void to_lanes_kernel(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  const Floats d;
  for (Index row = 0; row < lanes; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      Vector block[kLanes];
      for (Index r = 0; r < kLanes; ++r) {
        block[r] = row + r < rows ? load_first(x + (row + r) * x_row + column, columns - column) : hn::Zero(d);
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

HWY_EXPORT(to_lanes_kernel);
HWY_EXPORT(from_lanes_kernel);

void rows_to_lanes(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  HEED_DISPATCH(to_lanes_kernel)(rows, columns, x, x_row, to, lanes);
}

void lanes_to_rows(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                   Index x_row) {
  HEED_DISPATCH(from_lanes_kernel)(rows, columns, from, lanes, factor, x, x_row);
}

}  // namespace heed::kernels
#endif
