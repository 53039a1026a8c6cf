#include "heed/kernels/widen.h"

#include <cstdint>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/widen.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A bfloat16 is the upper half of a float.
void widen_bfloat16(const BFloat16* from, Index n, float* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> d32;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const std::uint16_t* bits = reinterpret_cast<const std::uint16_t*>(from);
  for (Index i = 0; i < n; i += lanes) {
    const std::size_t left = static_cast<std::size_t>(n - i);
    store_some(hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, load_some(d16, bits + i, left)))), d, to + i, left);
  }
}

// Half to float by integers, which every target has: the fraction and exponent are moved into place and rescaled by a
// multiplication, which is right for subnormals too; infinities and NaN get the largest exponent.
void widen_float16(const Float16* from, Index n, float* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> d32;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const std::uint16_t* bits = reinterpret_cast<const std::uint16_t*>(from);
  const auto rescale = hn::BitCast(d, hn::Set(d32, (254u - 15u) << 23));  // 2^112
  const auto special = hn::Set(d32, 0x7C00u), top = hn::Set(d32, 0x7F800000u);
  for (Index i = 0; i < n; i += lanes) {
    const std::size_t left = static_cast<std::size_t>(n - i);
    const auto half = hn::PromoteTo(d32, load_some(d16, bits + i, left));
    const auto magnitude = hn::And(half, hn::Set(d32, 0x7FFFu));
    const auto finite = hn::BitCast(d32, hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), rescale));
    const auto is_special = hn::Not(hn::Lt(magnitude, special));
    const auto value = hn::IfThenElse(is_special, hn::Or(top, hn::ShiftLeft<13>(magnitude)), finite);
    const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(d32, 0x8000u)));
    store_some(hn::BitCast(d, hn::Or(value, sign)), d, to + i, left);
  }
}

void widen_int8(const std::int8_t* from, float scale, Index n, float* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  for (Index i = 0; i < n; i += lanes) {
    const std::size_t left = static_cast<std::size_t>(n - i);
    const auto whole = hn::ConvertTo(d, hn::PromoteTo(d32, load_some(d8, from + i, left)));
    store_some(hn::Mul(whole, factor), d, to + i, left);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(widen_bfloat16);
HEED_EXPORT(widen_float16);
HEED_EXPORT(widen_int8);

void widen(const BFloat16* from, Index n, float* to) { HEED_DISPATCH(widen_bfloat16)(from, n, to); }
void widen(const Float16* from, Index n, float* to) { HEED_DISPATCH(widen_float16)(from, n, to); }
void widen(const std::int8_t* from, float scale, Index n, float* to) { HEED_DISPATCH(widen_int8)(from, scale, n, to); }

}  // namespace heed::kernels
#endif
