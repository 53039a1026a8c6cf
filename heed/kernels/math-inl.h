// The transcendental functions of the kernels, on one f32 vector of any Highway target. Included once per target, as
// Highway's own -inl headers are.
//
//   const hn::ScalableTag<float> d;
//   hn::StoreU(tanh(d, hn::LoadU(d, x)), d, y);
//
// Every function is lane-wise: a lane's result does not depend on the other lanes. A NaN gives a NaN. The stated errors
// are the largest over the floats that math_test.cc visits, against double, over all targets, in units of 2^-23 of the
// value; the polynomials are our own minimax fits (Remez exchange in 40 digits).
#if defined(HEED_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_MATH_INL_H_
#undef HEED_KERNELS_MATH_INL_H_
#else
#define HEED_KERNELS_MATH_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// exp(x) = 2^n (1 + p): the integer n in a float's low bits, and p = expm1(x - n ln 2).
template <class V, class VI>
struct ExpParts {
  VI n;  // n + kExponentBias + kRoundBits
  V p;
};

// 1.5 * 2^23 and the bias of a float's exponent: adding it rounds to the nearest integer and leaves that integer's
// exponent in the low bits. No product with 1.44269504 lies halfway, so that the constant may be odd.
inline constexpr std::int32_t kExponentBias = 127;
inline constexpr float kRound = 12582912.0f + kExponentBias;
inline constexpr std::int32_t kRoundBits = 0x4B400000;

// |x| up to 104. The error of p is 1.4e-8 of |p|, before rounding.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE ExpParts<V, hn::VFromD<hn::RebindToSigned<D>>> exp_parts(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V rounded = hn::MulAdd(x, hn::Set(d, 1.44269504f), hn::Set(d, kRound));
  const V n = hn::Sub(rounded, hn::Set(d, kRound));
  // ln 2 in two parts; the first has few enough bits that n times it is exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V q = hn::MulAdd(hn::Set(d, 0.00139464984f), r, hn::Set(d, 0.00836661059f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.04166628138f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.16666542794f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.50000000621f));
  return {hn::BitCast(di, rounded), hn::MulAdd(q, hn::Mul(r, r), r)};
}

// 2^n of n + kExponentBias for -126 <= n <= 127; kRoundBits beside it, whose low bits are zeros, changes nothing.
template <class D, class VI>
HWY_INLINE hn::VFromD<D> power_of_two(D d, VI exponent) {
  return hn::BitCast(d, hn::ShiftLeft<23>(exponent));
}

// min(x, bound) and max(x, bound), where a NaN stays: x86 has one instruction for it, which gives its second operand
// where one is a NaN.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V at_most(D d, V x, float bound) {
#if HWY_ARCH_X86 && HWY_TARGET < HWY_EMU128
  return hn::Min(hn::Set(d, bound), x);
#else
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, bound)), hn::Set(d, bound), x);
#endif
}
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V at_least(D d, V x, float bound) {
#if HWY_ARCH_X86 && HWY_TARGET < HWY_EMU128
  return hn::Max(hn::Set(d, bound), x);
#else
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, bound)), hn::Set(d, bound), x);
#endif
}

// exp(x), over all floats: overflows to infinity, underflows through the subnormals to zero. Error 0.67.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto parts = exp_parts(d, at_least(d, at_most(d, x, 89.0f), -104.0f));
  // In two steps: 2^128 and 2^-150 are not floats.
  const auto n = hn::Sub(parts.n, hn::Set(di, kRoundBits + kExponentBias));
  const auto half = hn::ShiftRight<1>(n), bias = hn::Set(di, kExponentBias);
  const V scale = power_of_two(d, hn::Add(half, bias));
  return hn::Mul(hn::MulAdd(parts.p, scale, scale), power_of_two(d, hn::Add(hn::Sub(n, half), bias)));
}

// `value`, and zero where x is below the bound; a NaN is not. AVX-512 compares the other way, and has the zeros from
// what computes the value; with Highway's Not it takes another step of the unit that is busiest with exponentials.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V zero_below(D d, V x, float bound, V value) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(V) == sizeof(__m512)) {
    return hn::IfThenElseZero(hn::Mask<D>{_mm512_cmp_ps_mask(x.raw, hn::Set(d, bound).raw, _CMP_NLT_UQ)}, value);
  }
#endif
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, bound)), value);
}

// exp(x) for x <= 88, and zero below `least`, -87 or more: no result is subnormal, which would cost a hundred cycles
// wherever it goes. Error 0.67.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V exp_or_zero(D d, V x, float least = -87.0f) {
  const auto parts = exp_parts(d, x);  // of what is further below, any number
  const V scale = power_of_two(d, parts.n);
  return zero_below(d, x, least, hn::MulAdd(parts.p, scale, scale));
}

// A softmax's weight, of a score beside the row's largest. Below 2^-80 it is none (decision page 0043): what it is
// multiplied by comes out normal, too.
inline constexpr float kLeastLog2OfWeight = -80.0f, kLeastLogOfWeight = -55.4517744f;
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V softmax_weight(D d, V x) {
  return exp_or_zero(d, x, kLeastLogOfWeight);
}

// 2^x for x < 128, and zero below kLeastLog2OfWeight. Error 1.47.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V narrow_softmax_weight(D d, V x) {
  const V rounded = hn::Add(x, hn::Set(d, kRound));
  const V f = hn::Sub(x, hn::Sub(rounded, hn::Set(d, kRound)));
  V q = hn::MulAdd(hn::Set(d, 0.00132647479f), f, hn::Set(d, 0.00967151237f));
  q = hn::MulAdd(q, f, hn::Set(d, 0.0555073368f));
  q = hn::MulAdd(q, f, hn::Set(d, 0.240222421f));
  q = hn::MulAdd(q, f, hn::Set(d, 0.693146978f));
  const V scale = power_of_two(d, hn::BitCast(hn::RebindToSigned<D>(), rounded));
  return zero_below(d, x, kLeastLog2OfWeight, hn::MulAdd(hn::Mul(q, f), scale, scale));
}

// log(x) of a normal x > 0, of infinity and of NaN; of anything else some finite number. x = 2^n (1 + f) with f from
// sqrt(1/2) - 1 to sqrt(2) - 1, and log1p(f) = f + f^2 P(f), with an error of 3.0e-8 before rounding. Error 0.85.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V log(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x), root_of_half = hn::Set(di, 0x3F3504F3);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, root_of_half));
  const V n = hn::ConvertTo(d, exponent), one = hn::Set(d, 1.0f);
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), one);
  V p = hn::MulAdd(hn::Set(d, 0.0873481471f), f, hn::Set(d, -0.143075042f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.14917976f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.165705109f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.199620722f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.250017551f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.333339502f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.499999916f));
  // ln 2 in two parts, as in exp_parts().
  const V small = hn::MulAdd(n, hn::Set(d, -2.12194440e-4f), hn::Mul(p, hn::Mul(f, f)));
  const V result = hn::MulAdd(n, hn::Set(d, 0.693359375f), hn::Add(small, f));
  return hn::IfThenElse(hn::Lt(x, hn::Inf(d)), result, x);
}

// tanh(x) = x P(x^2) / Q(x^2), of degree 4 each, with an error of 1.0e-8 before rounding; no coefficient is negative,
// so nothing cancels. Error 2.27, and 2.76 where a target has no fused multiply-add. Beyond the bound it is 1: the
// first x where that is so on every target after rounding, and before the first where it would be more.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V tanh(D d, V x) {
  constexpr float kBound = 7.97548914f;
  const V inside = at_least(d, at_most(d, x, kBound), -kBound), z = hn::Mul(inside, inside);
  V p = hn::MulAdd(hn::Set(d, 1.53467684e-8f), z, hn::Set(d, 2.19680346e-5f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.00357575619f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.134479331f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0f));
  V q = hn::MulAdd(hn::Set(d, 8.56661296e-7f), z, hn::Set(d, 0.000341827812f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.0261800423f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.467812621f));
  q = hn::MulAdd(q, z, hn::Set(d, 1.0f));
  return hn::Div(hn::Mul(inside, p), q);
}

// 1 / (1 + exp(-x)). Error 1.08.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

template <class V>
struct Normal {
  V cdf;      // Phi(x), the probability that a standard normal is below x
  V density;  // exp(-x^2 / 2) / sqrt(2 pi)
};

// The standard normal's distribution, which GELU weighs x by. The tail is exp(-a^2 / 2) F(w) / (a + 3) with a = |x| and
// w = (a - 3) / (a + 3): F is smooth on [-1, 1), so the left tail keeps its relative accuracy, where 1 + erf would
// cancel. Error of the distribution 1.9e-7 absolute, and 8 units for |x| <= 4; further left it grows with the rounding
// of a^2 / 2, to 32 at -14.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE Normal<V> normal(D d, V x) {
  const V a = at_most(d, hn::Abs(x), 14.5f);  // exp(-a^2 / 2) is zero from 14.42 on
  const V e = exp(d, hn::Mul(hn::Mul(a, a), hn::Set(d, -0.5f)));
  const V three = hn::Set(d, 3.0f), inverse = hn::Div(hn::Set(d, 1.0f), hn::Add(a, three));
  const V w = hn::Mul(hn::Sub(a, three), inverse);
  V f = hn::MulAdd(hn::Set(d, -0.000266766098f), w, hn::Set(d, -0.000903252185f));
  f = hn::MulAdd(f, w, hn::Set(d, 0.00107603657f));
  f = hn::MulAdd(f, w, hn::Set(d, 0.00692392185f));
  f = hn::MulAdd(f, w, hn::Set(d, -0.0104799353f));
  f = hn::MulAdd(f, w, hn::Set(d, -0.0472561007f));
  f = hn::MulAdd(f, w, hn::Set(d, 0.230019349f));
  f = hn::MulAdd(f, w, hn::Set(d, -0.509332285f));
  f = hn::MulAdd(f, w, hn::Set(d, 0.729083669f));
  const V tail = hn::Mul(hn::Mul(e, inverse), f);
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail)),
          hn::Mul(e, hn::Set(d, 0.398942280f))};
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
