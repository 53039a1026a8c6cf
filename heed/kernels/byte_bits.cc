#include "heed/kernels/byte_bits.h"

#include <algorithm>
#include <cstring>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/byte_bits.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE std::uint64_t bits_of(const std::uint8_t* bytes) {
#if HWY_TARGET == HWY_SCALAR
  std::uint64_t bits = 0;
  for (int j = 0; j < 64; ++j) bits |= std::uint64_t{bytes[j] != 0} << j;
  return bits;
#else
  const hn::CappedTag<std::uint8_t, 64> d;
  constexpr Index kBytes = static_cast<Index>(hn::MaxLanes(decltype(d)()));
  std::uint8_t bits[64 / 8 + 8] = {};  // a store may write 8
  for (Index j = 0; j < 64; j += kBytes) {
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, bytes + j), hn::Zero(d)), bits + j / 8);
  }
  std::uint64_t word;
  std::memcpy(&word, bits, sizeof(word));
  return word;
#endif
}

void keep_set_bytes_kernel(Index rows, Index count, const std::uint8_t* bytes, Index stride, std::uint64_t* words) {
  if (count == 64) {
    for (Index r = 0; r < rows; ++r) words[r] &= bits_of(bytes + r * stride);
    return;
  }
  for (Index r = 0; r < rows; ++r) {
    std::uint8_t padded[64] = {};
    std::copy_n(bytes + r * stride, count, padded);
    words[r] &= bits_of(padded);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(keep_set_bytes_kernel);

void keep_set_bytes(Index rows, Index count, const std::uint8_t* bytes, Index stride, std::uint64_t* words) {
  HEED_DISPATCH(keep_set_bytes_kernel)(rows, count, bytes, stride, words);
}

}  // namespace heed::kernels
#endif
