#include "heed/kernels/attention_additive.h"

#include <cmath>

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

void additive_powers_kernel(Index rows, Index width, const float* x, Index x_row, float* y, Index y_row) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    for (Index at = 0; at < width; at += kLanes) {
      const Vector value = load_first(x + r * x_row + at, width - at);
      const auto is_far = hn::Gt(hn::Abs(value), hn::Set(d, 43.0f));
      const auto parts = exp_parts(d, hn::Add(value, value));
      const Vector scale = power_of_two(d, parts.n);
      const Vector power = hn::MulAdd(parts.p, scale, scale);
      store_first(hn::IfThenElse(is_far, hn::NaN(d), power), y + r * y_row + at, width - at);
    }
  }
}

// 1 + exp(2 (q + k)) of their powers, and 2^31 at most, where 1 - 2 s is 1: so the product of four is a float.
HWY_INLINE Vector share_divisor(Vector q, Vector k) {
  const Floats d;
  return at_most(d, hn::MulAdd(q, k, hn::Set(d, 1.0f)), 2147483648.0f);
}

// Their reciprocals, of 1, 2 or 4, by one division: 1 / a = b (1 / ab).
template <int n>
HWY_INLINE void invert(Vector* x) {
  const Floats d;
  if constexpr (n == 1) {
    x[0] = hn::Div(hn::Set(d, 1.0f), x[0]);
  } else {
    Vector pairs[n / 2];
    for (int p = 0; p < n / 2; ++p) pairs[p] = hn::Mul(x[2 * p], x[2 * p + 1]);
    invert<n / 2>(pairs);
    for (int p = 0; p < n / 2; ++p) {
      const Vector first = hn::Mul(pairs[p], x[2 * p + 1]);
      x[2 * p + 1] = hn::Mul(pairs[p], x[2 * p]);
      x[2 * p] = first;
    }
  }
}

// Adds vector s of n vectors of columns, from `at` on, of one query and of keys side by side. Without kWhole, the last
// ones are not there or not whole: such columns have shares of 1, of which the zeros of the vector make nothing.
template <int n, bool kWhole, int kKeys, bool kKeep>
HWY_INLINE void add_shares(const AdditiveTile& t, Index at, const float* HWY_RESTRICT q, const float* HWY_RESTRICT k,
                           Vector* HWY_RESTRICT sums, float* HWY_RESTRICT kept) {
  const Floats d;
  const Index kept_row = additive_kept_width(t.width);
  const auto load = [&](const float* row, int i) HWY_ATTR {
    const Index from = at + i * kLanes;
    return load_first(row + from, kWhole ? kLanes : t.width - from);
  };
  Vector query[n], vector[n];
  for (int i = 0; i < n; ++i) query[i] = load(q, i), vector[i] = load(t.vector, i);
  HWY_UNROLL(4)
  for (int c = 0; c < kKeys; ++c) {
    Vector shares[n];
    for (int i = 0; i < n; ++i) shares[i] = share_divisor(query[i], load(k + c * t.k.powers_row, i));
    invert<n>(shares);
    for (int i = 0; i < n; ++i) {
      const Index from = at + i * kLanes;
      if (kKeep && (kWhole || from < t.width)) hn::StoreU(shares[i], d, kept + c * kept_row + from);
      sums[c] = hn::MulAdd(vector[i], shares[i], sums[c]);
    }
  }
}

// The sum of the vector's numbers, in each lane: what tanhs of 1 would give.
HWY_INLINE Vector sum_of_vector(const AdditiveTile& t) {
  Vector sum = hn::Zero(Floats());
  for (Index at = 0; at < t.width; at += kLanes) sum = hn::Add(sum, load_first(t.vector + at, t.width - at));
  return sum;
}

// The score of one pair from the rows that are given, whose powers gave a NaN.
HWY_NOINLINE float score_of_given(const AdditiveTile& t, Index r, Index c, float* kept) {
  const Floats d;
  const Vector half = hn::Set(d, 0.5f);
  const float *q = t.q.given + r * t.q.given_row, *k = t.k.given + c * t.k.given_row;
  Vector sum = hn::Zero(d);
  for (Index at = 0; at < t.width; at += kLanes) {
    const Index there = t.width - at;
    const Vector bent = tanh(d, hn::Add(load_first(q + at, there), load_first(k + at, there)));
    if (kept != nullptr) hn::StoreU(hn::NegMulAdd(bent, half, half), d, kept + at);
    sum = hn::MulAdd(load_first(t.vector + at, there), bent, sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// to[i] = the sum over the lanes of x[i], of four.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void store_sums(const Vector* x, float* to) {
  for (int i = 0; i < 4; ++i) to[i] = hn::GetLane(x[i]);
}
#else
using Four = hn::CappedTag<float, 4>;

template <class D>
HWY_INLINE hn::Vec<Four> four_lanes(D, hn::Vec<D> x) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return four_lanes(half, hn::Add(hn::LowerHalf(half, x), hn::UpperHalf(half, x)));
  } else {
    return x;
  }
}

HWY_INLINE void store_sums(const Vector* x, float* to) {
  const Four d;
  hn::Vec<Four> of[4];
  for (int i = 0; i < 4; ++i) of[i] = four_lanes(Floats(), x[i]);
  const auto first = hn::Add(hn::InterleaveLower(d, of[0], of[1]), hn::InterleaveUpper(d, of[0], of[1])),
             last = hn::Add(hn::InterleaveLower(d, of[2], of[3]), hn::InterleaveUpper(d, of[2], of[3]));
  hn::StoreU(hn::Add(hn::ConcatLowerLower(d, last, first), hn::ConcatUpperUpper(d, last, first)), d, to);
}
#endif

// Row r against four keys or one from c on. The order of a score's sum is one, whatever stands beside it.
template <int kKeys, bool kKeep>
HWY_INLINE void additive_scores(const AdditiveTile& t, Vector ones, Index r, Index c, float* HWY_RESTRICT scores,
                                float* HWY_RESTRICT kept) {
  const Floats d;
  const Index kept_row = additive_kept_width(t.width);
  const float *q = t.q.powers + r * t.q.powers_row, *k = t.k.powers + c * t.k.powers_row;
  scores += r * t.stride + c;
  if constexpr (kKeep) kept += (r * t.keys + c) * kept_row;
  Vector sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = hn::Zero(d);
  Index at = 0;
  for (; at + 4 * kLanes <= t.width; at += 4 * kLanes) add_shares<4, true, kKeys, kKeep>(t, at, q, k, sums, kept);
  if (t.width - at > 2 * kLanes) {
    add_shares<4, false, kKeys, kKeep>(t, at, q, k, sums, kept);
  } else if (t.width - at > kLanes) {
    add_shares<2, false, kKeys, kKeep>(t, at, q, k, sums, kept);
  } else if (at < t.width) {
    add_shares<1, false, kKeys, kKeep>(t, at, q, k, sums, kept);
  }
  for (int i = 0; i < kKeys; ++i) sums[i] = hn::NegMulAdd(hn::Set(d, 2.0f), sums[i], ones);
  float of_keys[4];
  store_sums(sums, of_keys);
  for (int i = 0; i < kKeys; ++i) {
    scores[i] = of_keys[i];
    if (std::isnan(scores[i])) scores[i] = score_of_given(t, r, c + i, kKeep ? kept + i * kept_row : nullptr);
  }
}

// Rows inside, so that some keys stay in the first cache while all rows meet them.
template <bool kKeep>
HWY_INLINE void additive_tile(const AdditiveTile& t, float* scores, float* kept) {
  const Vector ones = sum_of_vector(t);
  Index c = 0;
  for (; c + 4 <= t.keys; c += 4)
    for (Index r = 0; r < t.rows; ++r) additive_scores<4, kKeep>(t, ones, r, c, scores, kept);
  for (; c < t.keys; ++c)
    for (Index r = 0; r < t.rows; ++r) additive_scores<1, kKeep>(t, ones, r, c, scores, kept);
}

void additive_scores_kernel(const AdditiveTile& tile, float* scores, float* kept) {
  const AdditiveTile t = tile;  // a copy, which no store can change
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
  Vector slopes[R][kVectors], shares[kVectors], factors[kVectors];
  float flow_sum = 0;
  bool row_flows[R] = {};
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    factors[v] = hn::Mul(hn::Set(d, 4.0f), load_first(t.vector + at + v * kLanes, there));
    shares[v] = hn::Zero(d);
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
      flow_sum += dscore;
      const float* HWY_RESTRICT of_pair = kept + ((row + i) * t.keys + c) * kept_row + at;
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) {
        const Vector flow = hn::Set(d, dscore), share = hn::LoadU(d, of_pair + v * kLanes);
        const Vector slope = hn::NegMulAdd(share, share, share);
        shares[v] = hn::MulAdd(flow, share, shares[v]);
        slopes[i][v] = hn::MulAdd(flow, slope, slopes[i][v]);
        key_slopes[v] = hn::MulAdd(flow, slope, key_slopes[v]);
      }
    }
    if (!key_flows || sums.dk == nullptr) continue;
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      add_product(factors[v], key_slopes[v], sums.dk + c * sums.dk_row + at + v * kLanes, there);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    HWY_UNROLL(4)
    for (int i = 0; i < R; ++i) {
      if (!row_flows[i] || sums.dq == nullptr) continue;
      add_product(factors[v], slopes[i][v], sums.dq + (row + i) * sums.dq_row + at + v * kLanes, there);
    }
    if (sums.dvector == nullptr) continue;
    // A tanh is 1 - 2 s.
    const Vector bends = hn::NegMulAdd(hn::Set(d, 2.0f), shares[v], hn::Set(d, flow_sum));
    add_product(hn::Set(d, 1.0f), bends, sums.dvector + at + v * kLanes, there);
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

HEED_EXPORT(additive_powers_kernel);
HEED_EXPORT(additive_scores_kernel);
HEED_EXPORT(additive_backward_kernel);

void additive_powers(Index rows, Index width, const float* x, Index x_row, float* y, Index y_row) {
  HEED_DISPATCH(additive_powers_kernel)(rows, width, x, x_row, y, y_row);
}

void attention_additive_scores(const AdditiveTile& tile, float* scores, float* kept) {
  HEED_DISPATCH(additive_scores_kernel)(tile, scores, kept);
}

void attention_additive_backward(const AdditiveTile& tile, const float* kept, const float* dscores,
                                 const AdditiveGradients& sums) {
  HEED_DISPATCH(additive_backward_kernel)(tile, kept, dscores, sums);
}

}  // namespace heed::kernels
#endif
