#include "heed/kernels/attention_additive.h"

#include <algorithm>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_additive.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(Floats())); }

HWY_INLINE float additive_score(const AdditiveTile& t, const float* HWY_RESTRICT q, const float* HWY_RESTRICT k) {
  const Floats d;
  const Index n = lanes();
  Vector even = hn::Zero(d), odd = hn::Zero(d);
  Index at = 0;
  for (; at + 2 * n <= t.width; at += 2 * n) {
    const Vector bent0 = tanh(d, hn::Add(hn::LoadU(d, q + at), hn::LoadU(d, k + at)));
    const Vector bent1 = tanh(d, hn::Add(hn::LoadU(d, q + at + n), hn::LoadU(d, k + at + n)));
    even = hn::MulAdd(bent0, hn::LoadU(d, t.vector + at), even);
    odd = hn::MulAdd(bent1, hn::LoadU(d, t.vector + at + n), odd);
  }
  for (; at < t.width; at += n) {
    const std::size_t present = static_cast<std::size_t>(t.width - at);
    const Vector bent = tanh(d, hn::Add(load_some(d, q + at, present), load_some(d, k + at, present)));
    even = hn::MulAdd(bent, load_some(d, t.vector + at, present), even);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

void additive_scores_kernel(const AdditiveTile& t, float* scores) {
  for (Index r = 0; r < t.rows; ++r)
    for (Index c = 0; c < t.keys; ++c)
      scores[r * t.stride + c] = additive_score(t, t.q + r * t.q_row, t.k + c * t.k_row);
}

// The lanes that are there; null: not wanted.
HWY_INLINE Vector load_wanted(const float* x, Index at, std::size_t present) {
  return x != nullptr ? load_some(Floats(), x + at, present) : hn::Zero(Floats());
}
HWY_INLINE void store_wanted(Vector y, float* x, Index at, std::size_t present) {
  if (x != nullptr) store_some(y, Floats(), x + at, present);
}

// One pair of a query and a key. All runs along the width, so that every row is read as it lies.
HWY_INLINE void backward_pair(const AdditiveTile& t, const float* HWY_RESTRICT q, const float* HWY_RESTRICT k,
                              float dscore, float* HWY_RESTRICT dq, float* HWY_RESTRICT dk,
                              float* HWY_RESTRICT dvector) {
  const Floats d;
  const Vector scale = hn::Set(d, dscore);
  for (Index at = 0; at < t.width; at += lanes()) {
    const std::size_t present = static_cast<std::size_t>(t.width - at);
    const Vector bent = tanh(d, hn::Add(load_some(d, q + at, present), load_some(d, k + at, present)));
    const Vector slope = hn::NegMulAdd(bent, bent, hn::Set(d, 1.0f));
    const Vector flow = hn::Mul(hn::Mul(scale, load_some(d, t.vector + at, present)), slope);
    // All loads before all stores: rows of a power-of-two width lie at equal offsets in their pages, where a load waits
    // for a store that it only seems to follow.
    const Vector new_dq = hn::Add(load_wanted(dq, at, present), flow);
    const Vector new_dk = hn::Add(load_wanted(dk, at, present), flow);
    const Vector new_dvector = hn::MulAdd(scale, bent, load_wanted(dvector, at, present));
    store_wanted(new_dq, dq, at, present);
    store_wanted(new_dk, dk, at, present);
    store_wanted(new_dvector, dvector, at, present);
  }
}

void additive_backward_kernel(const AdditiveTile& t, const float* dscores, const AdditiveGradients& sums) {
  for (Index r = 0; r < t.rows; ++r)
    for (Index c = 0; c < t.keys; ++c) {
      const float dscore = dscores[r * t.stride + c];
      if (dscore == 0) continue;
      backward_pair(t, t.q + r * t.q_row, t.k + c * t.k_row, dscore,
                    sums.dq != nullptr ? sums.dq + r * sums.dq_row : nullptr,
                    sums.dk != nullptr ? sums.dk + c * sums.dk_row : nullptr, sums.dvector);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(additive_scores_kernel);
HWY_EXPORT(additive_backward_kernel);

void attention_additive_scores(const AdditiveTile& tile, float* scores) {
  HEED_DISPATCH(additive_scores_kernel)(tile, scores);
}

void attention_additive_backward(const AdditiveTile& tile, const float* dscores, const AdditiveGradients& sums) {
  HEED_DISPATCH(additive_backward_kernel)(tile, dscores, sums);
}

}  // namespace heed::kernels
#endif
