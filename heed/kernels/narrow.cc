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

void narrow_kernel(const float* from, Index n, BFloat16* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  std::uint16_t* const bits = reinterpret_cast<std::uint16_t*>(to);
  for (Index i = 0; i < n; i += lanes) {
    const std::size_t left = static_cast<std::size_t>(n - i);
    const auto rounded = rounded_words(d, load_some(d, from + i, left));
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
