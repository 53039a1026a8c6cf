// Philox4x32-10 of base/random.h, a block to a SIMD lane, on any Highway target. Included once per target, as Highway's
// own -inl headers are.
#if defined(HEED_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PHILOX_INL_H_
#undef HEED_KERNELS_PHILOX_INL_H_
#else
#define HEED_KERNELS_PHILOX_INL_H_
#endif

#include <cstdint>

#include "heed/base/random.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct PhiloxLanes {
  V word0, word1, word2, word3;
};

#if HWY_TARGET != HWY_SCALAR
// The high and low halves of a * multiplier.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void wide_product(D d, V a, std::uint32_t multiplier, V& high, V& low) {
  const hn::RepartitionToWide<D> d64;
  const auto factor = hn::Set(d, multiplier);
  const auto even = hn::MulEven(a, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a))), factor);
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}
#endif

// The blocks of the counters low + high * 2^32.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE PhiloxLanes<V> philox_lanes(D d, std::uint64_t seed, std::uint64_t stream, V low, V high) {
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t counter = (std::uint64_t{hn::GetLane(high)} << 32) | hn::GetLane(low);
  const PhiloxBlock block = philox(seed, stream, counter);
  return {hn::Set(d, block[0]), hn::Set(d, block[1]), hn::Set(d, block[2]), hn::Set(d, block[3])};
#else
  V c0 = low, c1 = high;
  V c2 = hn::Set(d, static_cast<std::uint32_t>(stream)), c3 = hn::Set(d, static_cast<std::uint32_t>(stream >> 32));
  std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    V high0, low0, high1, low1;
    wide_product(d, c0, 0xD2511F53u, high0, low0);
    wide_product(d, c2, 0xCD9E8D57u, high1, low1);
    c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
    c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
    c1 = low1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
