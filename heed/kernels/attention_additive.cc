#include "heed/kernels/attention_additive.h"

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_additive.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// One query against kKeys keys, side by side: a tanh is a long chain of steps, which others fill the gaps of. The order
// of a score's sum is one, whatever stands beside it.
template <int kKeys, bool kKeep>
HWY_INLINE void additive_scores(const AdditiveTile& t, const float* HWY_RESTRICT q, const float* HWY_RESTRICT k,
                                float* HWY_RESTRICT scores, float* HWY_RESTRICT kept) {
  const Floats d;
  const Index kept_row = additive_kept_width(t.width);
  Vector even[kKeys], odd[kKeys];
  HWY_UNROLL(4)
  for (int c = 0; c < kKeys; ++c) even[c] = odd[c] = hn::Zero(d);
  Index at = 0;
  for (; at + 2 * kLanes <= t.width; at += 2 * kLanes) {
    const Vector q0 = hn::LoadU(d, q + at), q1 = hn::LoadU(d, q + at + kLanes);
    const Vector vector0 = hn::LoadU(d, t.vector + at), vector1 = hn::LoadU(d, t.vector + at + kLanes);
    HWY_UNROLL(4)
    for (int c = 0; c < kKeys; ++c) {
      const float* key = k + c * t.k_row + at;
      const Vector bent0 = tanh(d, hn::Add(q0, hn::LoadU(d, key))),
                   bent1 = tanh(d, hn::Add(q1, hn::LoadU(d, key + kLanes)));
      if constexpr (kKeep) hn::StoreU(bent0, d, kept + c * kept_row + at);
      if constexpr (kKeep) hn::StoreU(bent1, d, kept + c * kept_row + at + kLanes);
      even[c] = hn::MulAdd(bent0, vector0, even[c]);
      odd[c] = hn::MulAdd(bent1, vector1, odd[c]);
    }
  }
  for (; at < t.width; at += kLanes) {
    const Index present = t.width - at;
    const Vector query = load_first(q + at, present), vector = load_first(t.vector + at, present);
    HWY_UNROLL(4)
    for (int c = 0; c < kKeys; ++c) {
      const Vector bent = tanh(d, hn::Add(query, load_first(k + c * t.k_row + at, present)));
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

// to += a b, of the lanes that are there.
HWY_INLINE void add_product(Vector a, Vector b, float* to, Index there) {
  store_first(hn::MulAdd(a, b, load_first(to, there)), to, there);
}

// kVectors vectors of columns of R rows against the keys: what is summed over keys stays in registers, and meets
// the vector at the end. Without kWhole, the last columns fill no vector.
template <int R, int kVectors, bool kWhole>
HWY_INLINE void backward_columns(const AdditiveTile& t, Index row, Index at, const float* HWY_RESTRICT kept,
                                 const float* HWY_RESTRICT dscores, const AdditiveGradients& sums) {
  const Floats d;
  const Index kept_row = additive_kept_width(t.width);
  const Index there = kWhole ? kLanes : t.width - at;
  Vector slopes[R][kVectors], bends[kVectors];
  bool row_flows[R] = {};
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    bends[v] = hn::Zero(d);
    for (int i = 0; i < R; ++i) slopes[i][v] = hn::Zero(d);
  }
  for (Index c = 0; c < t.keys; ++c) {
    Vector key_slopes[kVectors];
    bool key_flows = false;
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) key_slopes[v] = hn::Zero(d);
    HWY_UNROLL(4)
    for (int i = 0; i < R; ++i) {
      const float dscore = dscores[(row + i) * t.stride + c];
      if (dscore == 0) continue;
      row_flows[i] = key_flows = true;
      const float* HWY_RESTRICT bent = kept + ((row + i) * t.keys + c) * kept_row + at;
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) {
        const Vector flow = hn::Set(d, dscore), tanh = hn::LoadU(d, bent + v * kLanes), bend = hn::Mul(flow, tanh);
        const Vector slope = hn::NegMulAdd(bend, tanh, flow);
        bends[v] = hn::Add(bends[v], bend);
        slopes[i][v] = hn::Add(slopes[i][v], slope);
        key_slopes[v] = hn::Add(key_slopes[v], slope);
      }
    }
    if (!key_flows || sums.dk == nullptr) continue;
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const Vector vector = load_first(t.vector + at + v * kLanes, there);
      add_product(vector, key_slopes[v], sums.dk + c * sums.dk_row + at + v * kLanes, there);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    const Vector vector = load_first(t.vector + at + v * kLanes, there);
    HWY_UNROLL(4)
    for (int i = 0; i < R; ++i) {
      if (!row_flows[i] || sums.dq == nullptr) continue;
      add_product(vector, slopes[i][v], sums.dq + (row + i) * sums.dq_row + at + v * kLanes, there);
    }
    if (sums.dvector != nullptr) add_product(hn::Set(d, 1.0f), bends[v], sums.dvector + at + v * kLanes, there);
  }
}

// Structs are copied, so that no store to the sums can change them.
template <int R>
HWY_NOINLINE void backward_rows(AdditiveTile t, Index row, const float* kept, const float* dscores,
                                AdditiveGradients sums) {
  constexpr int kVectors = kManyRegisters ? 4 : 2;
  Index at = 0;
  for (; at + kVectors * kLanes <= t.width; at += kVectors * kLanes) {
    backward_columns<R, kVectors, true>(t, row, at, kept, dscores, sums);
  }
  for (; at < t.width; at += kLanes) backward_columns<R, 1, false>(t, row, at, kept, dscores, sums);
}

void additive_backward_kernel(const AdditiveTile& t, const float* kept, const float* dscores,
                              const AdditiveGradients& sums) {
  for (Index row = 0; row < t.rows; row += 4) {
    switch (t.rows - row) {
      case 1:
        backward_rows<1>(t, row, kept, dscores, sums);
        break;
      case 2:
        backward_rows<2>(t, row, kept, dscores, sums);
        break;
      case 3:
        backward_rows<3>(t, row, kept, dscores, sums);
        break;
      default:
        backward_rows<4>(t, row, kept, dscores, sums);
    }
  }
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
