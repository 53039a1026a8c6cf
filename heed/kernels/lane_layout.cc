#include "heed/kernels/lane_layout.h"

#include <algorithm>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/lane_layout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// Whether the block's columns begin a line of a row, which is asked for once.
HWY_INLINE bool begins_line(Index column) { return column % 16 == 0; }

void to_lanes_kernel(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  for (Index row = 0; row < lanes; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      const Extent present{std::min(rows - row, kLanes), std::min(columns - column, kLanes)};
      const auto turned = begins_line(column) ? turn<false, Ask::to_read> : turn<false, Ask::nothing>;
      turned(present, x + row * x_row + column, x_row, nullptr, {present.columns, kLanes}, to + column * lanes + row,
             lanes);
    }
}

template <bool kScales>
HWY_INLINE void from_lanes(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                           Index x_row) {
  for (Index row = 0; row < rows; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      const float* const scale = kScales ? factor + row : nullptr;
      const Extent wanted{std::min(rows - row, kLanes), std::min(columns - column, kLanes)};
      const auto turned = begins_line(column) ? turn<kScales, Ask::to_write> : turn<kScales, Ask::nothing>;
      turned({wanted.columns, kLanes}, from + column * lanes + row, lanes, scale, wanted, x + row * x_row + column,
             x_row);
    }
}

void from_lanes_kernel(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                       Index x_row) {
  if (factor == nullptr) return from_lanes<false>(rows, columns, from, lanes, nullptr, x, x_row);
  from_lanes<true>(rows, columns, from, lanes, factor, x, x_row);
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
