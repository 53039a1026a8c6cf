#include <algorithm>
#include <cstddef>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/lines_below.h"
#include "heed/kernels/sized_vectors.h"
#include "heed/kernels/stored_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/row_sums.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/stored_numbers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// R rows of weights with kVectors vectors of columns of all rows. Without kWhole, the last columns fill no vector.
template <class Row, int R, int kVectors, bool kWhole>
HWY_INLINE void column_sums(FewRows<const float> weights, const StoredRows& stored, Index column, bool first,
                            RowsBelow& below, FewRows<float> result) {
  const Floats d;
  const std::size_t there = kWhole ? kLanes : static_cast<std::size_t>(stored.width - column);
  float* to = result.data + column;
  Vector sums[R][kVectors];
  HWY_UNROLL(8)
  for (int n = 0; n < R; ++n)
    for (int v = 0; v < kVectors; ++v) {
      sums[n][v] = first ? hn::Zero(d) : load_some(d, to + n * result.row + v * kLanes, there);
    }
  const auto* row = static_cast<const typename Row::Number*>(stored.data) + column;
  constexpr Index kSize = sizeof(typename Row::Number), kBytes = kVectors * kLanes * kSize;
  for (Index j = 0; j < stored.count; ++j, row += stored.row) {
    below.ask_beside(j, column * kSize, kBytes);
    Vector scale = hn::Zero(d);
    if constexpr (Row::kScaled) scale = hn::Set(d, stored.scales[j * stored.scale_row]);
    Vector values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = Row::load(row + v * kLanes, there, scale);
    HWY_UNROLL(8)
    for (int n = 0; n < R; ++n) {
      const Vector weight = hn::Set(d, weights.data[n * weights.row + j]);
      for (int v = 0; v < kVectors; ++v) sums[n][v] = hn::MulAdd(weight, values[v], sums[n][v]);
    }
  }
  HWY_UNROLL(8)
  for (int n = 0; n < R; ++n)
    for (int v = 0; v < kVectors; ++v) store_some(sums[n][v], d, to + n * result.row + v * kLanes, there);
}

template <class Row, int R, int kVectors>
HWY_INLINE void sums_from(FewRows<const float> weights, const StoredRows& stored, Index column, bool first,
                          RowsBelow& below, FewRows<float> result) {
  for (; column + kVectors * kLanes <= stored.width; column += kVectors * kLanes) {
    column_sums<Row, R, kVectors, true>(weights, stored, column, first, below, result);
  }
  if constexpr (kVectors > 1) {
    sums_from<Row, R, kVectors / 2>(weights, stored, column, first, below, result);
  } else if (column < stored.width) {
    column_sums<Row, R, 1, false>(weights, stored, column, first, below, result);
  }
}

// As many sums as registers hold beside what is added to them, and no fewer than a unit's latency wants.
template <class Row, int R>
HWY_INLINE void sums(FewRows<const float> weights, const StoredRows& stored, bool first, FewRows<float> result) {
  constexpr int kSums = kManyRegisters ? 16 : 8, kVectors = std::min(kSums / R, 8);
  constexpr Index kSize = sizeof(typename Row::Number);
  RowsBelow below(stored, stored.row * kSize, stored.width * kSize, {.at_once = kVectors * kLanes * kSize});
  sums_from<Row, R, kVectors>(weights, stored, 0, first, below, result);
}

void row_sums_kernel(Index rows, FewRows<const float> weights, const StoredRows& stored, bool first,
                     FewRows<float> result) {
  with_type_and_rows(stored.dtype, rows,
                     [&](auto row, auto r) HWY_ATTR { sums<decltype(row), r()>(weights, stored, first, result); });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(row_sums_kernel);

void row_sums(Index rows, FewRows<const float> weights, const StoredRows& stored, bool first, FewRows<float> sums) {
  HEED_DISPATCH(row_sums_kernel)(rows, weights, stored, first, sums);
}

}  // namespace heed::kernels
#endif
