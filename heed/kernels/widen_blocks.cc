#include "heed/kernels/widen_blocks.h"

#include <algorithm>
#include <cstdint>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/unpack_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/widen_blocks.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// to[i] = scale * (byte - zero) - less: what a type without minima takes away is taken from the integer, so that a zero
// has the sign of its definition.
void scale_kernel(const UnpackedRows& from, float* to) {
  const hn::CappedTag<float, kShareNumbers> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const float zero = zero_of(from.type);
  const auto zeros = hn::Set(d, zero);
  for (Index share = 0; share < from.width / kShareNumbers; ++share) {
    const auto scale = hn::Set(d, from.scale[share]), less = hn::Set(d, zero == 0 ? from.less[share] : 0.0f);
    for (Index i = share * kShareNumbers; i < (share + 1) * kShareNumbers; i += static_cast<Index>(hn::Lanes(d))) {
      const auto whole = hn::Sub(hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, from.bytes + i))), zeros);
      hn::StoreU(hn::Sub(hn::Mul(whole, scale), less), d, to + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(scale_kernel);

void widen(BlockType type, const unsigned char* blocks, Index count, float* to) {
  constexpr Index kNumbers = kShares * kShareNumbers;  // at a time: the largest block's
  const BlockLayout layout = layout_of(type);
  std::uint8_t bytes[kNumbers];
  float scale[kShares], less[kShares];
  const Index most = kNumbers / layout.numbers;
  for (Index some; count > 0; count -= some, blocks += some * layout.bytes, to += some * layout.numbers) {
    some = std::min(count, most);
    const UnpackedRows rows{type, bytes, scale, less, 1, some * layout.numbers};
    unpack_blocks(blocks, rows);
    HEED_DISPATCH(scale_kernel)(rows, to);
  }
}

}  // namespace heed::kernels
#endif
