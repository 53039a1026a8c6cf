#include "heed/kernels/narrow.h"

#include <cstdint>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/narrow.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/bf16_rounding-inl.h"
#include "heed/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// bits(d, x): the 16 bits of each number, in a word.
template <class Bits>
HWY_INLINE void narrow_all(const float* from, Index n, std::uint16_t* to, const Bits& bits) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < n; i += lanes) {
    const std::size_t left = static_cast<std::size_t>(n - i);
    store_some(hn::TruncateTo(d16, bits(d, load_some(d, from + i, left))), d16, to + i, left);
  }
}

void narrow_bfloat16(const float* from, Index n, BFloat16* to) {
  narrow_all(from, n, reinterpret_cast<std::uint16_t*>(to),
             [](auto d, auto x) HWY_ATTR { return hn::ShiftRight<16>(rounded_words(d, x)); });
}

// By whole numbers, which every target has. What is subnormal as a half, below 2^-14, is rounded to a multiple of 2^-24
// by the addition of 1/2, which has no smaller place.
void narrow_float16(const float* from, Index n, Float16* to) {
  narrow_all(from, n, reinterpret_cast<std::uint16_t*>(to), [](auto d, auto x) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> words;
    const auto word = hn::BitCast(words, x), magnitude = hn::And(word, hn::Set(words, 0x7FFFFFFFu));
    const auto sign = hn::And(hn::ShiftRight<16>(word), hn::Set(words, 0x8000u));
    const auto even = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(words, 1u));
    const auto rounded = hn::Add(magnitude, hn::Add(even, hn::Set(words, 0xFFFu - 0x38000000u)));  // less 112 exponents
    const auto half = hn::Set(d, 0.5f), sum = hn::Add(hn::BitCast(d, magnitude), half);
    const auto subnormal = hn::Sub(hn::BitCast(words, sum), hn::BitCast(words, half));
    auto bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, 0x38800000u)), subnormal, hn::ShiftRight<13>(rounded));
    bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, 0x477FF000u)), bits, hn::Set(words, 0x7C00u));
    bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(words, 0x7F800000u)), hn::Set(words, 0x7E00u), bits);
    return hn::Or(bits, sign);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(narrow_bfloat16);
HEED_EXPORT(narrow_float16);

void narrow(const float* from, Index n, BFloat16* to) { HEED_DISPATCH(narrow_bfloat16)(from, n, to); }
void narrow(const float* from, Index n, Float16* to) { HEED_DISPATCH(narrow_float16)(from, n, to); }

}  // namespace heed::kernels
#endif
