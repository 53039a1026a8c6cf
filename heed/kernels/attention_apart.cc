#include "heed/kernels/attention_apart.h"

#include <limits>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_apart.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// Of the weight and the decay one is the exponential of zero: the other one is what has to be computed.
template <bool kMasked>
HWY_INLINE void weigh_apart(const AttentionLanes& t, const LanePart& part, float* HWY_RESTRICT tile,
                            const LaneSums& rows, float* HWY_RESTRICT decays) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const Vector none = hn::Set(d, -std::numeric_limits<float>::infinity()), one = hn::Set(d, 1.0f);
  for (Index row = part.first_lane; row < part.end_lane; row += kLanes) {
    Vector top = hn::LoadU(d, rows.top + row), sum = hn::LoadU(d, rows.sum + row);
    for (Index key = part.first_key; key < part.end_key; ++key) {
      const Index at = key * t.lanes + row;
      Vector score = hn::LoadU(d, tile + at);
      if constexpr (kMasked) {
        const auto bit = hn::Set(words, std::uint32_t{1} << (key % 32));
        const auto word = hn::LoadU(words, t.allowed + key / 32 * t.lanes + row);
        score = hn::IfThenElse(hn::RebindMask(d, hn::TestBit(word, bit)), score, none);
      }
      const Vector before = top;
      top = hn::Max(score, before);
      const Vector shift = hn::IfThenZeroElse(hn::Eq(top, none), top);
      const auto moved = hn::Gt(score, before);
      const Vector power = softmax_weight(d, hn::Sub(hn::IfThenElse(moved, before, score), shift));
      // A score of +inf is to make the sum a NaN.
      const Vector weight = hn::IfThenElse(moved, hn::Add(one, hn::Sub(score, shift)), power);
      const Vector decay = hn::IfThenElse(moved, power, one);
      sum = hn::MulAdd(sum, decay, weight);
      hn::StoreU(weight, d, tile + at);
      hn::StoreU(decay, d, decays + at);
    }
    hn::StoreU(top, d, rows.top + row);
    hn::StoreU(sum, d, rows.sum + row);
  }
}

void softmax_apart_kernel(const AttentionLanes& t, const LanePart& part, float* tile, const LaneSums& rows,
                          float* decays) {
  t.allowed == nullptr ? weigh_apart<false>(t, part, tile, rows, decays)
                       : weigh_apart<true>(t, part, tile, rows, decays);
}

// R rows of c against a vector of its columns, of which `count` are there: the more rows, the less often are b and
// decays read, which with the rest are more than the first cache holds.
template <int R, bool kDecays, bool kWhole>
HWY_INLINE void add_rows(const ApartProducts& t, Index row, Index column, Index count) {
  const Floats d;
  const auto load = [=](const float* from) HWY_ATTR { return kWhole ? hn::LoadU(d, from) : load_first(from, count); };
  Vector sum[R];
  float* HWY_RESTRICT c = t.c + row * t.c_row + column;
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i) sum[i] = load(c + i * t.c_row);
  for (Index p = 0; p < t.k; ++p) {
    const float* HWY_RESTRICT a = t.a.data + row * t.a.row + p * t.a.col;
    const Vector b = load(t.b + p * t.b_row + column);
    const Vector decay = kDecays ? load(t.decays + p * t.b_row + column) : hn::Zero(d);
    HWY_UNROLL(16)
    for (int i = 0; i < R; ++i) {
      const Vector product = hn::MulAdd(hn::Set(d, a[i * t.a.row]), b, hn::Zero(d));
      sum[i] = kDecays ? hn::MulAdd(sum[i], decay, product) : hn::Add(sum[i], product);
    }
  }
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i) {
    kWhole ? hn::StoreU(sum[i], d, c + i * t.c_row) : store_first(sum[i], c + i * t.c_row, count);
  }
}

template <bool kDecays, bool kWhole>
HWY_INLINE void add_column(const ApartProducts& t, Index column, Index count) {
  constexpr int kMost = kManyRegisters ? 16 : 8;
  Index row = 0;
  for (; row + kMost <= t.m; row += kMost) add_rows<kMost, kDecays, kWhole>(t, row, column, count);
  for (; row + 4 <= t.m; row += 4) add_rows<4, kDecays, kWhole>(t, row, column, count);
  for (; row < t.m; ++row) add_rows<1, kDecays, kWhole>(t, row, column, count);
}

template <bool kDecays>
void add_products(const ApartProducts& t) {
  Index column = 0;
  for (; column + kLanes <= t.n; column += kLanes) add_column<kDecays, true>(t, column, kLanes);
  if (column < t.n) add_column<kDecays, false>(t, column, t.n - column);
}

void products_apart_kernel(const ApartProducts& t) {
  t.decays == nullptr ? add_products<false>(t) : add_products<true>(t);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(softmax_apart_kernel);
HEED_EXPORT(products_apart_kernel);

void softmax_apart(const AttentionLanes& block, const LanePart& part, float* tile, const LaneSums& rows,
                   float* decays) {
  HEED_DISPATCH(softmax_apart_kernel)(block, part, tile, rows, decays);
}

void add_products_apart(const ApartProducts& products) { HEED_DISPATCH(products_apart_kernel)(products); }

}  // namespace heed::kernels
#endif
