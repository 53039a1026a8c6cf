#include "heed/kernels/lane_layout.h"

#include <algorithm>
#include <array>

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
HWY_NOINLINE void ask_below(const float* block, Index row, Index column) {
  constexpr Index kLine = 16;  // floats
  if (column % kLine != 0) return;
  block += kLanes * row;
  HWY_UNROLL(16)
  for (Index r = 0; r < kLanes; ++r, block += row) __builtin_prefetch(block, kWrite);
}

constexpr std::array<float, kLanes> kNoRow{};

struct Extent {
  Index rows, columns;  // kLanes each, at most

  bool is_whole() const { return rows == kLanes && columns == kLanes; }
};

// Of what is read, `in` is there, and zeros for the rest; of what is written, `out` is wanted.
template <bool kScales>
HWY_NOINLINE void turn_part(const Extent& in, const float* from, Index from_row, const float* factor, const Extent& out,
                            float* to, Index to_row) {
  const Floats d;
  const Vector scale = kScales ? hn::LoadU(d, factor) : hn::Zero(d);
  Vector block[kLanes];
  HWY_UNROLL(16)
  for (Index r = 0; r < kLanes; ++r, from += from_row) {
    block[r] = load_first(r < in.rows ? from : kNoRow.data(), in.columns);
    if constexpr (kScales) block[r] = hn::Mul(block[r], scale);
  }
  transpose_block(block);
  HWY_UNROLL(16)
  for (Index r = 0; r < kLanes; ++r, to += to_row) {
    if (r < out.rows) store_first(block[r], to, out.columns);
  }
}

template <bool kScales>
HWY_INLINE void turn(const Extent& in, const float* from, Index from_row, const float* factor, const Extent& out,
                     float* to, Index to_row) {
  if (in.is_whole() && out.is_whole()) return turn_block<kScales>(from, from_row, factor, to, to_row);
  turn_part<kScales>(in, from, from_row, factor, out, to, to_row);
}

void to_lanes_kernel(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  for (Index row = 0; row < lanes; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      const float* const block = x + row * x_row + column;
      const Extent present{std::min(rows - row, kLanes), std::min(columns - column, kLanes)};
      ask_below<0>(block, x_row, column);
      turn<false>(present, block, x_row, nullptr, {present.columns, kLanes}, to + column * lanes + row, lanes);
    }
}

template <bool kScales>
HWY_INLINE void from_lanes(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                           Index x_row) {
  for (Index row = 0; row < rows; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      float* const block = x + row * x_row + column;
      const float* const scale = kScales ? factor + row : nullptr;
      const Extent wanted{std::min(rows - row, kLanes), std::min(columns - column, kLanes)};
      ask_below<1>(block, x_row, column);
      turn<kScales>({wanted.columns, kLanes}, from + column * lanes + row, lanes, scale, wanted, block, x_row);
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
