#include <algorithm>
#include <cstddef>
#include <type_traits>

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

// So many rows are read between two requests for others: a request for each takes as long as a row of few columns.
constexpr Index kAskedBeside = 4;

// Some vectors of a row's columns; without kWhole one, of which `there` are there. Numbers of bf16 are read as words,
// so that of two vectors one has the even columns and the other the odd ones: a step less for each than to widen them
// in order.
template <class Row, int kVectors, bool kWhole>
struct Columns {
  static constexpr bool kInWords = kWhole && kVectors % 2 == 0 && std::is_same_v<Row, BFloat16Row>;
  using Number = typename Row::Number;

  static HWY_INLINE void widen(const Number* row, std::size_t there, Vector scale, Vector (&values)[kVectors]) {
    if constexpr (kInWords) {
      for (int v = 0; v < kVectors; v += 2) {
        const void* const at = row + v * kLanes;
        const auto words = hn::LoadU(Words(), static_cast<const std::int32_t*>(at));
        values[v] = Row::template of_words<0>(words, scale), values[v + 1] = Row::template of_words<1>(words, scale);
      }
    } else {
      for (int v = 0; v < kVectors; ++v) values[v] = Row::load(row + v * kLanes, there, scale);
    }
  }
  static HWY_INLINE void load(const float* from, std::size_t there, Vector (&sums)[kVectors]) {
    const Floats d;
    if constexpr (kInWords) {
      for (int v = 0; v < kVectors; v += 2) hn::LoadInterleaved2(d, from + v * kLanes, sums[v], sums[v + 1]);
    } else {
      for (int v = 0; v < kVectors; ++v) sums[v] = load_some(d, from + v * kLanes, there);
    }
  }
  static HWY_INLINE void store(const Vector (&sums)[kVectors], float* to, std::size_t there) {
    const Floats d;
    if constexpr (kInWords) {
      for (int v = 0; v < kVectors; v += 2) hn::StoreInterleaved2(sums[v], sums[v + 1], d, to + v * kLanes);
    } else {
      for (int v = 0; v < kVectors; ++v) store_some(sums[v], d, to + v * kLanes, there);
    }
  }
};

// R rows of weights with kVectors vectors of columns of all rows. Without kWhole, the last columns fill no vector.
template <class Row, int R, int kVectors, bool kWhole>
HWY_INLINE void column_sums(FewRows<const float> weights, const StoredRows& stored, Index column, bool first,
                            RowsBelow& below, FewRows<float> result) {
  using Of = Columns<Row, kVectors, kWhole>;
  const Floats d;
  const std::size_t there = kWhole ? kLanes : static_cast<std::size_t>(stored.width - column);
  float* to = result.data + column;
  Vector sums[R][kVectors];
  HWY_UNROLL(8)
  for (int n = 0; n < R; ++n) {
    for (Vector& sum : sums[n]) sum = hn::Zero(d);
    if (!first) Of::load(to + n * result.row, there, sums[n]);
  }
  const auto* row = static_cast<const typename Row::Number*>(stored.data) + column;
  const auto add_row = [&](Index j) HWY_ATTR {
    Vector scale = hn::Zero(d);
    if constexpr (Row::kScaled) scale = hn::Set(d, stored.scales[j * stored.scale_row]);
    Vector values[kVectors];
    Of::widen(row, there, scale, values);
    HWY_UNROLL(8)
    for (int n = 0; n < R; ++n) {
      const Vector weight = hn::Set(d, weights.data[n * weights.row + j]);
      for (int v = 0; v < kVectors; ++v) sums[n][v] = hn::MulAdd(weight, values[v], sums[n][v]);
    }
    row += stored.row;
  };
  constexpr Index kSize = sizeof(typename Row::Number), kBytes = kVectors * kLanes * kSize;
  Index j = 0;
  for (; j + kAskedBeside <= stored.count; j += kAskedBeside) {
    below.ask_beside(j, column * kSize, kBytes);
    HWY_UNROLL(4)
    for (Index n = 0; n < kAskedBeside; ++n) add_row(j + n);
  }
  if (j < stored.count) below.ask_beside(j, column * kSize, kBytes);
  for (; j < stored.count; ++j) add_row(j);
  HWY_UNROLL(8)
  for (int n = 0; n < R; ++n) Of::store(sums[n], to + n * result.row, there);
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
  RowsBelow below(stored, stored.row * kSize, stored.width * kSize,
                  {.at_once = kVectors * kLanes * kSize, .rows = kAskedBeside});
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
