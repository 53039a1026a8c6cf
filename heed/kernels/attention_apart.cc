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

// R numbers of the values, from `first` on, against a vector of lanes: the more of them, the less often are weights and
// decays read, which with the rest are more than the first cache holds.
template <int R>
HWY_INLINE void add_numbers(const ApartValues& t, Index first, Index lane) {
  const Floats d;
  Vector sum[R];
  float* HWY_RESTRICT out = t.out + first * t.lanes + lane;
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i) sum[i] = hn::LoadU(d, out + i * t.lanes);
  for (Index key = t.part.first_key; key < t.part.end_key; ++key) {
    const float* HWY_RESTRICT values = t.values + key * t.values_row + first;
    const Vector weight = hn::LoadU(d, t.weights + key * t.lanes + lane);
    const Vector decay = hn::LoadU(d, t.decays + key * t.lanes + lane);
    HWY_UNROLL(16)
    for (int i = 0; i < R; ++i) {
      sum[i] = hn::MulAdd(sum[i], decay, hn::MulAdd(hn::Set(d, values[i]), weight, hn::Zero(d)));
    }
  }
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i) hn::StoreU(sum[i], d, out + i * t.lanes);
}

void values_apart_kernel(const ApartValues& t) {
  constexpr int kMost = kManyRegisters ? 16 : 8;
  for (Index lane = t.part.first_lane; lane < t.part.end_lane; lane += kLanes) {
    Index number = 0;
    for (; number + kMost <= t.width; number += kMost) add_numbers<kMost>(t, number, lane);
    for (; number + 4 <= t.width; number += 4) add_numbers<4>(t, number, lane);
    for (; number < t.width; ++number) add_numbers<1>(t, number, lane);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(softmax_apart_kernel);
HEED_EXPORT(values_apart_kernel);

void softmax_apart(const AttentionLanes& block, const LanePart& part, float* tile, const LaneSums& rows,
                   float* decays) {
  HEED_DISPATCH(softmax_apart_kernel)(block, part, tile, rows, decays);
}

void add_values_apart(const ApartValues& values) { HEED_DISPATCH(values_apart_kernel)(values); }

}  // namespace heed::kernels
#endif
