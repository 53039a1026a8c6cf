#include "heed/kernels/lane_row.h"

#include <algorithm>

#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/lane_row.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/lane_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// Lanes from `key` on whose bit is set.
HWY_INLINE Mask has_bits(const std::uint64_t& words, Index key) {
  HWY_ALIGN const std::uint64_t bits[2] = {words >> key, 0};
  return hn::LoadMaskBits(Floats(), reinterpret_cast<const std::uint8_t*>(bits));
}

// The four chains of a row of weights, with zeros up to a whole vector behind its keys.
HWY_INLINE float chains_of(const float* row, Index keys) {
  HWY_ALIGN float chains[4] = {};
#if HWY_TARGET == HWY_SCALAR
  for (Index key = 0; key < keys; ++key) chains[key % 4] += row[key];
#else
  const hn::CappedTag<float, 4> d;
  auto sum = hn::Zero(d);
  for (Index key = 0; key < keys; key += 4) sum = hn::Add(sum, hn::LoadU(d, row + key));
  hn::Store(sum, d, chains);
#endif
  return (chains[0] + chains[1]) + (chains[2] + chains[3]);
}

template <class Weights>
HWY_INLINE void add_row(const LaneRow& t, float* HWY_RESTRICT row, RowSums& sums) {
  const Floats d;
  const Vector none = hn::Set(d, kMinusInfinity);
  const float inverse_cap = t.cap == 0 ? 0.0f : 1.0f / t.cap;
  const std::uint64_t there = t.keys < kLaneKeys ? (std::uint64_t{1} << t.keys) - 1 : ~std::uint64_t{0};
  const std::uint64_t allowed = t.allowed & there;
  Vector largest = none;
  for (Index key = 0; key < t.keys; key += kLanes) {
    Vector score = hn::LoadU(d, row + key);
    if (t.cap != 0) score = bent_score(t.cap, inverse_cap, score);
    if (t.bias != nullptr) score = hn::Add(score, hn::LoadU(d, t.bias + key));
    if (allowed != ~std::uint64_t{0}) score = hn::IfThenElse(has_bits(allowed, key), score, none);
    largest = hn::Max(largest, score);
    hn::StoreU(score, d, row + key);
  }
  const Vector next_top = Weights::top(hn::Set(d, sums.top), hn::MaxOfLanes(d, largest));
  const float top = hn::GetLane(next_top);
  const Vector shift = Weights::shift(next_top);
  for (Index key = 0; key < t.keys; key += kLanes) {
    hn::StoreU(Weights::weight(hn::LoadU(d, row + key), shift), d, row + key);
  }
  const float added = chains_of(row, t.keys);
  for (Index key = 0; t.drops && key < t.keys; key += kLanes) {
    const Vector scaled = hn::Mul(hn::LoadU(d, row + key), hn::Set(d, t.keep_scale));
    hn::StoreU(hn::IfThenElseZero(has_bits(t.kept, key), scaled), d, row + key);
  }
  sums.decay = hn::GetLane(Weights::decay(hn::Set(d, sums.top), shift));
  sums.sum = hn::GetLane(hn::MulAdd(hn::Set(d, sums.sum), hn::Set(d, sums.decay), hn::Set(d, added)));
  sums.top = top;
}

void weigh_row_kernel(const LaneRow& t, float* row, RowSums& sums) {
  switch (t.weights) {
    case RowWeights::softmax:
      return add_row<SoftmaxWeights>(t, row, sums);
    case RowWeights::softmax_for_bf16:
      return add_row<NarrowSoftmaxWeights>(t, row, sums);
    case RowWeights::sigmoid:
      return add_row<SigmoidWeights>(t, row, sums);
  }
}

void decay_kernel(Index count, float decay, const float* HWY_RESTRICT added, float* HWY_RESTRICT sums) {
  const Floats d;
  for (Index i = 0; i < count; i += kLanes) {
    const Vector sum = hn::MulAdd(load_first(sums + i, count - i), hn::Set(d, decay), load_first(added + i, count - i));
    store_first(sum, sums + i, count - i);
  }
}

void row_sink_kernel(float sink, RowSums& sums) {
  const Floats d;
  Vector top = hn::Set(d, sums.top), sum = hn::Set(d, sums.sum), decay;
  add_sink(hn::Set(d, sink), top, sum, decay);
  sums = {hn::GetLane(top), hn::GetLane(sum), hn::GetLane(decay)};
}

void row_statistic_kernel(const RowSums& sums, float* stat) {
  const Floats d;
  *stat = hn::GetLane(statistic_of(hn::Set(d, sums.top), hn::Set(d, sums.sum)));
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(weigh_row_kernel);
HEED_EXPORT(decay_kernel);
HEED_EXPORT(row_sink_kernel);
HEED_EXPORT(row_statistic_kernel);

void weigh_row(const LaneRow& block, float* row, RowSums& sums) { HEED_DISPATCH(weigh_row_kernel)(block, row, sums); }

void decay_row(Index count, float decay, const float* added, float* sums) {
  HEED_DISPATCH(decay_kernel)(count, decay, added, sums);
}

void softmax_row_sink(float sink, RowSums& sums) { HEED_DISPATCH(row_sink_kernel)(sink, sums); }

float softmax_row_statistic(const RowSums& sums) {
  float stat;
  HEED_DISPATCH(row_statistic_kernel)(sums, &stat);
  return stat;
}

}  // namespace heed::kernels
#endif
