#include "heed/kernels/unit_rows.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/unit_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Doubles = hn::CappedTag<double, 8>;
using Narrow = hn::Rebind<float, Doubles>;

HWY_INLINE Index wide_lanes() { return static_cast<Index>(hn::Lanes(Doubles())); }

HWY_INLINE hn::Vec<Doubles> load_wide(const float* x, Index at, Index width) {
  return hn::PromoteTo(Doubles(), load_some(Narrow(), x + at, static_cast<std::size_t>(width - at)));
}

HWY_INLINE double row_dot(const float* x, const float* y, Index width) {
  auto sum = hn::Zero(Doubles());
  for (Index at = 0; at < width; at += wide_lanes()) {
    sum = hn::MulAdd(load_wide(x, at, width), load_wide(y, at, width), sum);
  }
  return hn::GetLane(hn::SumOfLanes(Doubles(), sum));
}

// y = (x - along * other) * factor; y may be x.
HWY_INLINE void scale_row(const float* x, const float* other, double along, double factor, Index width, float* y) {
  const Doubles d;
  for (Index at = 0; at < width; at += wide_lanes()) {
    const auto rest = hn::NegMulAdd(hn::Set(d, along), load_wide(other, at, width), load_wide(x, at, width));
    store_some(hn::DemoteTo(Narrow(), hn::Mul(rest, hn::Set(d, factor))), Narrow(), y + at,
               static_cast<std::size_t>(width - at));
  }
}

void unit_rows_kernel(Index rows, Index width, const float* x, Index x_row, float* y, Index y_row) {
  for (Index r = 0; r < rows; ++r) {
    const float* row = x + r * x_row;
    const double length = std::max(std::sqrt(row_dot(row, row, width)), kLeastLength);
    scale_row(row, row, 0, 1 / length, width, y + r * y_row);
  }
}

void unit_rows_backward_kernel(Index rows, Index width, const float* x, Index x_row, float* dy, Index dy_row) {
  for (Index r = 0; r < rows; ++r) {
    const float* row = x + r * x_row;
    float* flow = dy + r * dy_row;
    if (std::all_of(flow, flow + width, [](float value) { return value == 0; })) continue;
    const double length = std::sqrt(row_dot(row, row, width)), inverse = 1 / std::max(length, kLeastLength);
    // y . dy, over the length once more: what is taken from dy for each number of x.
    const double along = length > kLeastLength ? row_dot(row, flow, width) * inverse * inverse : 0;
    scale_row(flow, row, along, inverse, width, flow);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(unit_rows_kernel);
HEED_EXPORT(unit_rows_backward_kernel);

void unit_rows(Index rows, Index width, const float* x, Index x_row, float* y, Index y_row) {
  HEED_DISPATCH(unit_rows_kernel)(rows, width, x, x_row, y, y_row);
}

void unit_rows_backward(Index rows, Index width, const float* x, Index x_row, float* dy, Index dy_row) {
  HEED_DISPATCH(unit_rows_backward_kernel)(rows, width, x, x_row, dy, dy_row);
}

}  // namespace heed::kernels
#endif
