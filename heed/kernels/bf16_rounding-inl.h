// Vectors of f32 that are rounded to bf16, to nearest even: factors of PairUnit's products (pair_unit.h). Included once
// per target, as Highway's own -inl headers are.
#if defined(HEED_KERNELS_BF16_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_BF16_ROUNDING_INL_H_
#undef HEED_KERNELS_BF16_ROUNDING_INL_H_
#else
#define HEED_KERNELS_BF16_ROUNDING_INL_H_
#endif

#include <cstdint>

#include "heed/base/float16.h"
#include "heed/kernels/float_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Words = hn::RebindToUnsigned<Floats>;

// Words whose upper half is the number rounded, whatever is below: half of the last place that stays is added, less one
// where that place is even; a NaN is only made quiet.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> rounded_words(D, V x) {
  const hn::RebindToUnsigned<D> d;
  const auto word = hn::BitCast(d, x), even = hn::And(hn::ShiftRight<16>(word), hn::Set(d, 1u));
  const auto nearest = hn::Add(word, hn::Add(even, hn::Set(d, 0x7FFFu)));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), hn::Or(word, hn::Set(d, 0x400000u)), nearest);
}

#if HWY_TARGET == HWY_AVX3

// The numbers of `lower` and then those of `upper`. Highway 1.0.3 does not know the instruction, and a function for a
// processor that has it cannot be part of one for any with AVX-512: who comes here has asked for a PairUnit before.
HWY_INLINE __m512i rounded(Vector lower, Vector upper) {
  __m512i both;
  asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(both) : "v"(upper.raw), "v"(lower.raw));
  return both;
}

alignas(64) constexpr std::uint16_t kPairOrder[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};

// Word n is number n of `lower` in its lower half, that of `upper` in the upper one.
HWY_INLINE void store_pairs(Vector lower, Vector upper, std::uint32_t* to) {
  const __m512i order = _mm512_load_si512(kPairOrder);
  _mm512_storeu_si512(to, _mm512_permutexvar_epi16(order, rounded(lower, upper)));
}

// The numbers of `lower` and then those of `upper`, side by side.
HWY_INLINE void store_beside(Vector lower, Vector upper, BFloat16* to) {
  _mm512_storeu_si512(to, rounded(lower, upper));
}

#else

HWY_INLINE void store_pairs(Vector lower, Vector upper, std::uint32_t* to) {
  const Words d;
  const auto upper_half = hn::And(rounded_words(Floats(), upper), hn::Set(d, 0xFFFF0000u));
  hn::StoreU(hn::Or(hn::ShiftRight<16>(rounded_words(Floats(), lower)), upper_half), d, to);
}

HWY_INLINE void store_beside(Vector lower, Vector upper, BFloat16* to) {
  const hn::Rebind<std::uint16_t, Floats> d;
  auto* const bits = reinterpret_cast<std::uint16_t*>(to);
  hn::StoreU(hn::TruncateTo(d, hn::ShiftRight<16>(rounded_words(Floats(), lower))), d, bits);
  hn::StoreU(hn::TruncateTo(d, hn::ShiftRight<16>(rounded_words(Floats(), upper))), d, bits + kLanes);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
