// What softmax makes of scores, whether the rows are lanes (attention_lanes.h) or one lies by itself (lane_row.h): the
// same steps, so that a row has the same bits. Included once per target, as Highway's own -inl headers are.
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

// A further score of the rows, that has weight and no value.
HWY_INLINE void add_sink(Vector sink, Vector& top, Vector& sum, Vector& decay) {
  const Floats d;
  const Vector before = top;
  top = hn::Max(before, sink);
  const Vector shift = shift_of(top);
  decay = exp_or_zero(d, hn::Sub(before, shift));
  sum = hn::MulAdd(sum, decay, exp_or_zero(d, hn::Sub(sink, shift)));
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
