#include "heed/kernels/narrow.h"

#include <cstdint>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/narrow.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Half of the last place that stays is added, less one where that place is even; a NaN is only made quiet.
void narrow_kernel(const float* from, Index n, BFloat16* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> d32;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  std::uint16_t* const bits = reinterpret_cast<std::uint16_t*>(to);
  for (Index i = 0; i < n; i += lanes) {
    const std::size_t left = static_cast<std::size_t>(n - i);
    const auto number = load_some(d, from + i, left);
    const auto word = hn::BitCast(d32, number);
    const auto even = hn::And(hn::ShiftRight<16>(word), hn::Set(d32, 1u));
    const auto nearest = hn::Add(word, hn::Add(even, hn::Set(d32, 0x7FFFu)));
    const auto quiet = hn::Or(word, hn::Set(d32, 0x400000u));
    const auto rounded = hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(number)), quiet, nearest);
    store_some(hn::TruncateTo(d16, hn::ShiftRight<16>(rounded)), d16, bits + i, left);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(narrow_kernel);

void narrow(const float* from, Index n, BFloat16* to) { HEED_DISPATCH(narrow_kernel)(from, n, to); }

}  // namespace heed::kernels
#endif
