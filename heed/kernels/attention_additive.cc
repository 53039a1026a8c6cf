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

// One query against kKeys keys, side by side: a tanh is a long chain of steps, which others fill the gaps of. The order
// of a score's sum is one, whatever stands beside it.
template <int kKeys>
HWY_INLINE void additive_scores(const AdditiveTile& t, const float* HWY_RESTRICT q, const float* HWY_RESTRICT k,
                                float* HWY_RESTRICT scores) {
  const Floats d;
  const Index n = lanes();
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
      even[c] = hn::MulAdd(tanh(d, hn::Add(q0, hn::LoadU(d, key))), vector0, even[c]);
      odd[c] = hn::MulAdd(tanh(d, hn::Add(q1, hn::LoadU(d, key + n))), vector1, odd[c]);
    }
  }
  for (; at < t.width; at += n) {
    const std::size_t present = static_cast<std::size_t>(t.width - at);
    const Vector query = load_some(d, q + at, present), vector = load_some(d, t.vector + at, present);
    HWY_UNROLL(4)
    for (int c = 0; c < kKeys; ++c) {
      even[c] = hn::MulAdd(tanh(d, hn::Add(query, load_some(d, k + c * t.k_row + at, present))), vector, even[c]);
    }
  }
  HWY_UNROLL(4)
  for (int c = 0; c < kKeys; ++c) scores[c] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[c], odd[c])));
}

void additive_scores_kernel(const AdditiveTile& t, float* scores) {
  for (Index r = 0; r < t.rows; ++r) {
    const float* q = t.q + r * t.q_row;
    Index c = 0;
    for (; c + 4 <= t.keys; c += 4) additive_scores<4>(t, q, t.k + c * t.k_row, scores + r * t.stride + c);
    for (; c < t.keys; ++c) additive_scores<1>(t, q, t.k + c * t.k_row, scores + r * t.stride + c);
  }
}

// The lanes that are there; null: not wanted.
HWY_INLINE Vector load_wanted(const float* x, Index at, std::size_t present) {
  return x != nullptr ? load_some(Floats(), x + at, present) : hn::Zero(Floats());
}
HWY_INLINE void store_wanted(Vector y, float* x, Index at, std::size_t present) {
  if (x != nullptr) store_some(y, Floats(), x + at, present);
}

// Some rows and keys of a tile, and the first of the columns at work.
struct Block {
  Index row, keys_begin, keys_end, column;
};

// Two vectors of columns of kRows rows against the keys: what is summed over keys stays in registers.
template <int kRows>
HWY_INLINE void backward_block(const AdditiveTile& t, const Block& block, const float* HWY_RESTRICT dscores,
                               const AdditiveGradients& sums) {
  const Floats d;
  const Index n = lanes(), at = block.column;
  const std::size_t whole = static_cast<std::size_t>(n);
  const Vector one = hn::Set(d, 1.0f);
  const Vector vector0 = hn::LoadU(d, t.vector + at), vector1 = hn::LoadU(d, t.vector + at + n);
  Vector dvector0 = load_wanted(sums.dvector, at, whole), dvector1 = load_wanted(sums.dvector, at + n, whole);
  Vector q0[kRows], q1[kRows], dq0[kRows], dq1[kRows];
  float* dq[kRows];
  HWY_UNROLL(2)
  for (int i = 0; i < kRows; ++i) {
    q0[i] = hn::LoadU(d, t.q + (block.row + i) * t.q_row + at);
    q1[i] = hn::LoadU(d, t.q + (block.row + i) * t.q_row + at + n);
    dq[i] = sums.dq != nullptr ? sums.dq + (block.row + i) * sums.dq_row : nullptr;
    dq0[i] = load_wanted(dq[i], at, whole), dq1[i] = load_wanted(dq[i], at + n, whole);
  }
  for (Index c = block.keys_begin; c < block.keys_end; ++c) {
    const float* HWY_RESTRICT k = t.k + c * t.k_row + at;
    float* dk = sums.dk != nullptr ? sums.dk + c * sums.dk_row : nullptr;
    const Vector k0 = hn::LoadU(d, k), k1 = hn::LoadU(d, k + n);
    Vector dk0 = load_wanted(dk, at, whole), dk1 = load_wanted(dk, at + n, whole);
    HWY_UNROLL(2)
    for (int i = 0; i < kRows; ++i) {
      const float dscore = dscores[(block.row + i) * t.stride + c];
      if (dscore == 0) continue;
      const Vector flow = hn::Set(d, dscore);
      const Vector bent0 = tanh(d, hn::Add(q0[i], k0)), bent1 = tanh(d, hn::Add(q1[i], k1));
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

// A row's columns from the block's first on, a vector at a time: what two whole vectors do not cover.
HWY_INLINE void backward_columns(const AdditiveTile& t, const Block& block, const float* HWY_RESTRICT dscores,
                                 const AdditiveGradients& sums) {
  const Floats d;
  const float* q = t.q + block.row * t.q_row;
  float* dq = sums.dq != nullptr ? sums.dq + block.row * sums.dq_row : nullptr;
  for (Index at = block.column; at < t.width; at += lanes()) {
    const std::size_t present = static_cast<std::size_t>(t.width - at);
    const Vector query = load_some(d, q + at, present), vector = load_some(d, t.vector + at, present);
    Vector dquery = load_wanted(dq, at, present), dvector = load_wanted(sums.dvector, at, present);
    for (Index c = block.keys_begin; c < block.keys_end; ++c) {
      const float dscore = dscores[block.row * t.stride + c];
      if (dscore == 0) continue;
      float* dk = sums.dk != nullptr ? sums.dk + c * sums.dk_row : nullptr;
      const Vector flow = hn::Set(d, dscore);
      const Vector bent = tanh(d, hn::Add(query, load_some(d, t.k + c * t.k_row + at, present)));
      const Vector slope = hn::Mul(flow, hn::NegMulAdd(bent, bent, hn::Set(d, 1.0f)));
      dquery = hn::MulAdd(slope, vector, dquery);
      dvector = hn::MulAdd(flow, bent, dvector);
      store_wanted(hn::MulAdd(slope, vector, load_wanted(dk, at, present)), dk, at, present);
    }
    store_wanted(dquery, dq, at, present), store_wanted(dvector, sums.dvector, at, present);
  }
}

// The keys of a block stay in the first level of the cache while every row meets them.
constexpr Index kBlockKeys = 32;

void additive_backward_kernel(const AdditiveTile& t, const float* dscores, const AdditiveGradients& sums) {
  for (Index c = 0; c < t.keys; c += kBlockKeys) {
    Block block{.row = 0, .keys_begin = c, .keys_end = std::min(t.keys, c + kBlockKeys), .column = 0};
    for (; block.column + 2 * lanes() <= t.width; block.column += 2 * lanes()) {
      for (block.row = 0; block.row + 2 <= t.rows; block.row += 2) backward_block<2>(t, block, dscores, sums);
      if (block.row < t.rows) backward_block<1>(t, block, dscores, sums);
    }
    for (block.row = 0; block.column < t.width && block.row < t.rows; ++block.row) {
      backward_columns(t, block, dscores, sums);
    }
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
