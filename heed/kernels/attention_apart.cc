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
      const Vector power = exp_or_zero(d, hn::Sub(hn::IfThenElse(moved, before, score), shift));
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

// R numbers of the values against kVectors vectors of lanes.
template <int R, int kVectors>
HWY_INLINE void add_numbers(const ApartValues& t, Index first, Index lane) {
  const Floats d;
  Vector sum[R][kVectors];
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i)
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::LoadU(d, t.out + (first + i) * t.lanes + lane + v * kLanes);
  for (Index key = t.part.first_key; key < t.part.end_key; ++key) {
    const float* HWY_RESTRICT values = t.values + key * t.values_row + first;
    const Index at = key * t.lanes + lane;
    Vector weight[kVectors], decay[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      weight[v] = hn::LoadU(d, t.weights + at + v * kLanes), decay[v] = hn::LoadU(d, t.decays + at + v * kLanes);
    }
    HWY_UNROLL(16)
    for (int i = 0; i < R; ++i) {
      const Vector value = hn::Set(d, values[i]);
      for (int v = 0; v < kVectors; ++v) {
        sum[i][v] = hn::MulAdd(sum[i][v], decay[v], hn::MulAdd(value, weight[v], hn::Zero(d)));
      }
    }
  }
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[i][v], d, t.out + (first + i) * t.lanes + lane + v * kLanes);
}

template <int R, int kVectors>
HWY_INLINE void add_lanes(const ApartValues& t, Index lane) {
  Index number = 0;
  for (; number + R <= t.width; number += R) add_numbers<R, kVectors>(t, number, lane);
  for (; number < t.width; ++number) add_numbers<1, kVectors>(t, number, lane);
}

void values_apart_kernel(const ApartValues& t) {
  Index lane = t.part.first_lane;
  if constexpr (kManyRegisters) {
    for (; lane + 4 * kLanes <= t.part.end_lane; lane += 4 * kLanes) add_lanes<4, 4>(t, lane);
    for (; lane + 2 * kLanes <= t.part.end_lane; lane += 2 * kLanes) add_lanes<8, 2>(t, lane);
  }
  for (; lane < t.part.end_lane; lane += kLanes) add_lanes<kRows, 1>(t, lane);
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
