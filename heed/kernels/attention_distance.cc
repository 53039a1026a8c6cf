#include "heed/kernels/attention_distance.h"

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_distance.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct SquareDifference {
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) {
    const Vector difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, sum);
  }
};

void distance_tile_kernel(const GemmTile& t) { chain_tile<SquareDifference>(t); }

// R rows against one vector of columns, which may be short: the register file holds the rows' sums and their `from`.
template <int R>
HWY_INLINE void difference_rows(const DifferenceTile& t, Index row, Index column) {
  const Floats d;
  const Index present = t.n - column;
  Vector sum[R], from[R];
  HWY_UNROLL(8)
  for (int i = 0; i < R; ++i) {
    sum[i] = hn::Zero(d);
    from[i] = load_first(t.from.data + (row + i) * t.from.row + column, present);
  }
  const float* HWY_RESTRICT a = t.a.data + row * t.a.row;
  const float* HWY_RESTRICT b = t.b.data + column;
  for (Index p = 0; p < t.k; ++p) {
    const Vector to = load_first(b + p * t.b.row, present);
    HWY_UNROLL(8)
    for (int i = 0; i < R; ++i) {
      sum[i] = hn::MulAdd(hn::Set(d, a[i * t.a.row + p * t.a.col]), hn::Sub(to, from[i]), sum[i]);
    }
  }
  HWY_UNROLL(8)
  for (int i = 0; i < R; ++i) {
    float* c = t.c + (row + i) * t.c_row + column;
    store_first(hn::Add(hn::Mul(sum[i], hn::Set(d, t.alpha)), load_first(c, present)), c, present);
  }
}

template <int R>
HWY_INLINE void last_difference_rows(const DifferenceTile& t, Index row, Index column) {
  if constexpr (R > 0) {
    if (t.m - row == R) return difference_rows<R>(t, row, column);
    last_difference_rows<R - 1>(t, row, column);
  }
}

void difference_tile_kernel(const DifferenceTile& t) {
  for (Index column = 0; column < t.n; column += kLanes) {
    Index row = 0;
    for (; row + kRows <= t.m; row += kRows) difference_rows<kRows>(t, row, column);
    last_difference_rows<kRows - 1>(t, row, column);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(distance_tile_kernel);
HEED_EXPORT(difference_tile_kernel);

void distance_tile(const GemmTile& tile) { HEED_DISPATCH(distance_tile_kernel)(tile); }

void difference_tile(const DifferenceTile& tile) { HEED_DISPATCH(difference_tile_kernel)(tile); }

}  // namespace heed::kernels
#endif
