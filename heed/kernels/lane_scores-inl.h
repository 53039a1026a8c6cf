// What softmax, or a sigmoid, makes of scores, whether the rows are lanes (attention_lanes.h) or one lies by itself
// (lane_row.h): the same steps, so that a row has the same bits. Included once per target, as Highway's own -inl
// headers are.
#if defined(HEED_KERNELS_LANE_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_LANE_SCORES_INL_H_
#undef HEED_KERNELS_LANE_SCORES_INL_H_
#else
#define HEED_KERNELS_LANE_SCORES_INL_H_
#endif

#include <limits>

#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Mask = hn::Mask<Floats>;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

HWY_INLINE Vector bent_score(float cap, float inverse_cap, Vector score) {
  const Floats d;
  return hn::Mul(hn::Set(d, cap), tanh(d, hn::Mul(score, hn::Set(d, inverse_cap))));
}

// What differences are taken to: a row of refused keys alone has -inf, which must not be subtracted from itself.
HWY_INLINE Vector shift_of(Vector top) {
  return hn::IfThenZeroElse(hn::Eq(top, hn::Set(Floats(), kMinusInfinity)), top);
}

HWY_INLINE Mask is_refused(Vector score) { return hn::Eq(score, hn::Set(Floats(), kMinusInfinity)); }

// exp(score - top), and what was added up before is multiplied by.
struct SoftmaxWeights {
  static HWY_INLINE Vector top(Vector before, Vector largest) { return hn::Max(largest, before); }
  static HWY_INLINE Vector shift(Vector top) { return shift_of(top); }
  static HWY_INLINE Vector weight(Vector score, Vector shift) {
    return softmax_weight(Floats(), hn::Sub(score, shift));
  }
  static HWY_INLINE Vector decay(Vector before, Vector shift) { return weight(before, shift); }
};

// The same for weights that are rounded to bf16 (decision page 0021): as powers of two, which take two steps less. What
// a shift is rounded by is in all weights of a row alike; a decay is the power of the difference of two such shifts.
// The top follows the largest score only where that is more than kSlack above it, so that decays are mostly one.
struct NarrowSoftmaxWeights {
  static constexpr float kLog2e = 1.44269504f, kSlack = 8;
  static HWY_INLINE Vector top(Vector before, Vector largest) {
    return hn::IfThenElse(hn::Gt(largest, hn::Add(before, hn::Set(Floats(), kSlack))), largest, before);
  }
  static HWY_INLINE Vector shift(Vector top) { return hn::Mul(shift_of(top), hn::Set(Floats(), kLog2e)); }
  static HWY_INLINE Vector weight(Vector score, Vector shift) {
    return narrow_softmax_weight(Floats(), hn::MulSub(score, hn::Set(Floats(), kLog2e), shift));
  }
  static HWY_INLINE Vector decay(Vector before, Vector shift) {
    return narrow_softmax_weight(Floats(), hn::Sub(hn::Mul(before, hn::Set(Floats(), kLog2e)), shift));
  }
};

// 1 / (1 + exp(-score)), zero for a refused key.
struct SigmoidWeights {
  static HWY_INLINE Vector top(Vector before, Vector largest) { return hn::Max(largest, before); }
  static HWY_INLINE Vector shift(Vector) { return hn::Zero(Floats()); }
  static HWY_INLINE Vector weight(Vector score, Vector) { return sigmoid(Floats(), score); }
  static HWY_INLINE Vector decay(Vector, Vector) { return hn::Set(Floats(), 1.0f); }
};

// A further score of the rows, that has weight and no value.
HWY_INLINE void add_sink(Vector sink, Vector& top, Vector& sum, Vector& decay) {
  const Floats d;
  const Vector before = top;
  top = hn::Max(before, sink);
  const Vector shift = shift_of(top);
  decay = softmax_weight(d, hn::Sub(before, shift));
  sum = hn::MulAdd(sum, decay, softmax_weight(d, hn::Sub(sink, shift)));
}

// The logarithm of what all of a row's weights would add up to, were they not taken relative to its top; -inf for a row
// without a key, whose top is that. (The largest of scores that are NaN may be anything, but their sum is NaN.)
HWY_INLINE Vector statistic_of(Vector top, Vector sum) { return hn::Add(top, log(Floats(), sum)); }

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
