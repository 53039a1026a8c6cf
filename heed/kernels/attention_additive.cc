#include "heed/kernels/attention_additive.h"

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

using Floats = hn::CappedTag<float, kAttentionLanes>;
using Vector = hn::Vec<Floats>;

HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(Floats())); }

// One query against kKeys keys, side by side: a tanh is a long chain of steps, which others fill the gaps of. The order
// of a score's sum is one, whatever stands beside it.
template <int kKeys, bool kKeep>
HWY_INLINE void additive_scores(const AdditiveTile& t, const float* HWY_RESTRICT q, const float* HWY_RESTRICT k,
                                float* HWY_RESTRICT scores, float* HWY_RESTRICT kept) {
  const Floats d;
  const Index n = lanes(), kept_row = additive_kept_width(t.width);
  Vector even[kKeys], odd[kKeys];
  HWY_UNROLL(4)
  for (int c = 0; c < kKeys; ++c) even[c] = odd[c] = hn::Zero(d);
  Index at = 0;
  for (; at + 2 * n <= t.width; at += 2 * n) {
    const Vector q0 = hn::LoadU(d, q + at), q1 = hn::LoadU(d, q + at + n);
    const Vector vector0 = hn::LoadU(d, t.vector + at), vector1 = hn::LoadU(d, t.vector + at + n);
    HWY_UNROLL(4)
    for (int c = 0; c < kKeys; ++c) {
      const float* key = k + c * t.k_row + at;
      const Vector bent0 = tanh(d, hn::Add(q0, hn::LoadU(d, key))), bent1 = tanh(d, hn::Add(q1, hn::LoadU(d, key + n)));
      if constexpr (kKeep) hn::StoreU(bent0, d, kept + c * kept_row + at);
      if constexpr (kKeep) hn::StoreU(bent1, d, kept + c * kept_row + at + n);
      even[c] = hn::MulAdd(bent0, vector0, even[c]);
      odd[c] = hn::MulAdd(bent1, vector1, odd[c]);
    }
  }
  for (; at < t.width; at += n) {
    const std::size_t present = static_cast<std::size_t>(t.width - at);
    const Vector query = load_some(d, q + at, present), vector = load_some(d, t.vector + at, present);
    HWY_UNROLL(4)
    for (int c = 0; c < kKeys; ++c) {
      const Vector bent = tanh(d, hn::Add(query, load_some(d, k + c * t.k_row + at, present)));
      if constexpr (kKeep) hn::StoreU(bent, d, kept + c * kept_row + at);
      even[c] = hn::MulAdd(bent, vector, even[c]);
    }
  }
  HWY_UNROLL(4)
  for (int c = 0; c < kKeys; ++c) scores[c] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[c], odd[c])));
}

template <bool kKeep>
HWY_INLINE void additive_tile(const AdditiveTile& t, float* scores, float* kept) {
  const Index kept_row = kKeep ? additive_kept_width(t.width) : 0;
  for (Index r = 0; r < t.rows; ++r) {
    const float* q = t.q + r * t.q_row;
    float *to = scores + r * t.stride, *keep = kept + r * t.keys * kept_row;
    Index c = 0;
    for (; c + 4 <= t.keys; c += 4) additive_scores<4, kKeep>(t, q, t.k + c * t.k_row, to + c, keep + c * kept_row);
    for (; c < t.keys; ++c) additive_scores<1, kKeep>(t, q, t.k + c * t.k_row, to + c, keep + c * kept_row);
  }
}

void additive_scores_kernel(const AdditiveTile& t, float* scores, float* kept) {
  if (kept == nullptr) return additive_tile<false>(t, scores, nullptr);
  additive_tile<true>(t, scores, kept);
}

// The lanes that are there; null: not wanted.
HWY_INLINE Vector load_wanted(const float* x, Index at, std::size_t present) {
  return x != nullptr ? load_some(Floats(), x + at, present) : hn::Zero(Floats());
}
HWY_INLINE void store_wanted(Vector y, float* x, Index at, std::size_t present) {
  if (x != nullptr) store_some(y, Floats(), x + at, present);
}

// Two vectors of columns of kRows rows against the keys: what is summed over keys stays in registers.
template <int kRows>
HWY_INLINE void backward_rows(const AdditiveTile& t, Index row, Index at, const float* HWY_RESTRICT kept,
                              const float* HWY_RESTRICT dscores, const AdditiveGradients& sums) {
  const Floats d;
  const Index n = lanes(), kept_row = additive_kept_width(t.width);
  const std::size_t whole = static_cast<std::size_t>(n);
  const Vector one = hn::Set(d, 1.0f);
  const Vector vector0 = hn::LoadU(d, t.vector + at), vector1 = hn::LoadU(d, t.vector + at + n);
  Vector dvector0 = load_wanted(sums.dvector, at, whole), dvector1 = load_wanted(sums.dvector, at + n, whole);
  Vector dq0[kRows], dq1[kRows];
  float* dq[kRows];
  HWY_UNROLL(2)
  for (int i = 0; i < kRows; ++i) {
    dq[i] = sums.dq != nullptr ? sums.dq + (row + i) * sums.dq_row : nullptr;
    dq0[i] = load_wanted(dq[i], at, whole), dq1[i] = load_wanted(dq[i], at + n, whole);
  }
  for (Index c = 0; c < t.keys; ++c) {
    float* dk = sums.dk != nullptr ? sums.dk + c * sums.dk_row : nullptr;
    Vector dk0 = load_wanted(dk, at, whole), dk1 = load_wanted(dk, at + n, whole);
    HWY_UNROLL(2)
    for (int i = 0; i < kRows; ++i) {
      const float dscore = dscores[(row + i) * t.stride + c];
      if (dscore == 0) continue;
      const float* HWY_RESTRICT bent = kept + ((row + i) * t.keys + c) * kept_row + at;
      const Vector flow = hn::Set(d, dscore), bent0 = hn::LoadU(d, bent), bent1 = hn::LoadU(d, bent + n);
      const Vector slope0 = hn::Mul(flow, hn::NegMulAdd(bent0, bent0, one));
      const Vector slope1 = hn::Mul(flow, hn::NegMulAdd(bent1, bent1, one));
      dq0[i] = hn::MulAdd(slope0, vector0, dq0[i]), dq1[i] = hn::MulAdd(slope1, vector1, dq1[i]);
      dk0 = hn::MulAdd(slope0, vector0, dk0), dk1 = hn::MulAdd(slope1, vector1, dk1);
      dvector0 = hn::MulAdd(flow, bent0, dvector0), dvector1 = hn::MulAdd(flow, bent1, dvector1);
    }
    store_wanted(dk0, dk, at, whole), store_wanted(dk1, dk, at + n, whole);
  }
  HWY_UNROLL(2)
  for (int i = 0; i < kRows; ++i) store_wanted(dq0[i], dq[i], at, whole), store_wanted(dq1[i], dq[i], at + n, whole);
  store_wanted(dvector0, sums.dvector, at, whole), store_wanted(dvector1, sums.dvector, at + n, whole);
}

// A row's columns from the first on, a vector at a time: what two whole vectors do not cover.
HWY_INLINE void backward_columns(const AdditiveTile& t, Index row, Index first, const float* HWY_RESTRICT kept,
                                 const float* HWY_RESTRICT dscores, const AdditiveGradients& sums) {
  const Floats d;
  const Index kept_row = additive_kept_width(t.width);
  float* dq = sums.dq != nullptr ? sums.dq + row * sums.dq_row : nullptr;
  for (Index at = first; at < t.width; at += lanes()) {
    const std::size_t present = static_cast<std::size_t>(t.width - at);
    const Vector vector = load_some(d, t.vector + at, present);
    Vector dquery = load_wanted(dq, at, present), dvector = load_wanted(sums.dvector, at, present);
    for (Index c = 0; c < t.keys; ++c) {
      const float dscore = dscores[row * t.stride + c];
      if (dscore == 0) continue;
      float* dk = sums.dk != nullptr ? sums.dk + c * sums.dk_row : nullptr;
      const Vector flow = hn::Set(d, dscore), bent = hn::LoadU(d, kept + (row * t.keys + c) * kept_row + at);
      const Vector slope = hn::Mul(flow, hn::NegMulAdd(bent, bent, hn::Set(d, 1.0f)));
      dquery = hn::MulAdd(slope, vector, dquery);
      dvector = hn::MulAdd(flow, bent, dvector);
      store_wanted(hn::MulAdd(slope, vector, load_wanted(dk, at, present)), dk, at, present);
    }
    store_wanted(dquery, dq, at, present), store_wanted(dvector, sums.dvector, at, present);
  }
}

void additive_backward_kernel(const AdditiveTile& t, const float* kept, const float* dscores,
                              const AdditiveGradients& sums) {
  Index at = 0;
  for (; at + 2 * lanes() <= t.width; at += 2 * lanes()) {
    Index row = 0;
    for (; row + 2 <= t.rows; row += 2) backward_rows<2>(t, row, at, kept, dscores, sums);
    if (row < t.rows) backward_rows<1>(t, row, at, kept, dscores, sums);
  }
  for (Index row = 0; at < t.width && row < t.rows; ++row) backward_columns(t, row, at, kept, dscores, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(additive_scores_kernel);
HEED_EXPORT(additive_backward_kernel);

void attention_additive_scores(const AdditiveTile& tile, float* scores, float* kept) {
  HEED_DISPATCH(additive_scores_kernel)(tile, scores, kept);
}

void attention_additive_backward(const AdditiveTile& tile, const float* kept, const float* dscores,
                                 const AdditiveGradients& sums) {
  HEED_DISPATCH(additive_backward_kernel)(tile, kept, dscores, sums);
}

}  // namespace heed::kernels
#endif
