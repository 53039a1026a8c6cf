#include "heed/kernels/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/dropout.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include <algorithm>
#include <bit>
#include <cstring>

#include "heed/base/random.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lanes-inl.h"
#include "hwy/highway.h"

static_assert(std::endian::native == std::endian::little, "the 16-bit halves are taken from memory");

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Elements drawn at a time: the bits stay in L1. A multiple of eight elements for every lane of the widest target.
inline constexpr std::size_t kChunk = 512;

#if HWY_TARGET == HWY_SCALAR

// The bits of elements 8 block to 8 block + count, rounded up to a whole block.
HWY_INLINE void draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t block, std::size_t count,
                     std::uint16_t* bits) {
  for (std::size_t i = 0; i < count; i += 8, ++block) {
    const PhiloxBlock words = philox(seed, stream, block);
    std::memcpy(bits + i, words.data(), sizeof(words));
  }
}

#else

// The same with one Philox block per 64-bit lane. A lane's word is its lower half; the upper half is rubbish that the
// multiply does not read, which saves masking after every round.
HWY_INLINE void draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t block, std::size_t count,
                     std::uint16_t* bits) {
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  const std::size_t lanes = hn::Lanes(d);
  const auto multiplier0 = hn::Set(d32, 0xD2511F53u), multiplier1 = hn::Set(d32, 0xCD9E8D57u);
  const auto low = hn::Set(d, std::uint64_t{0xFFFFFFFFu});
  for (std::size_t i = 0; i < count; i += 8 * lanes, block += lanes) {
    auto c0 = hn::Add(hn::Set(d, block), hn::Iota(d, 0)), c1 = hn::ShiftRight<32>(c0);
    auto c2 = hn::Set(d, stream), c3 = hn::Set(d, stream >> 32);
    std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const auto p0 = hn::MulEven(hn::BitCast(d32, c0), multiplier0);
      const auto p1 = hn::MulEven(hn::BitCast(d32, c2), multiplier1);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, std::uint64_t{k0}));
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, std::uint64_t{k1}));
      c1 = p1;
      c3 = p0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    HWY_ALIGN std::uint64_t words[2 * hn::MaxLanes(decltype(d)())];
    hn::StoreInterleaved2(hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1)),
                          hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3)), d, words);
    std::memcpy(bits + i, words, 16 * lanes);
  }
}

#endif

void Dropout(const DropoutRule& rule, std::uint64_t first, const float* x, const float* residual, float* y,
             std::size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const std::size_t lanes = hn::Lanes(d);
  // At least the threshold is more than one less: integers have no Ge.
  const auto below = hn::Set(di, static_cast<std::int32_t>(rule.threshold) - 1);
  const auto scale = hn::Set(d, rule.scale);
  HWY_ALIGN std::uint16_t bits[kChunk];
  for (std::size_t begin = 0; begin < n; begin += kChunk) {
    const std::size_t count = std::min(kChunk, n - begin);
    draw(rule.seed, rule.stream, (first + begin) / 8, count, bits);
    for (std::size_t i = 0; i < count; i += lanes) {
      const std::size_t left = count - i;
      const auto keep = hn::RebindMask(d, hn::Gt(hn::PromoteTo(di, hn::LoadU(d16, bits + i)), below));
      // The product is rounded before the mask, and the sum after it: no fused multiply-add can change the bits of a
      // part.
      auto value = hn::IfThenElseZero(keep, hn::Mul(load_some(d, x + begin + i, left), scale));
      if (residual != nullptr) value = hn::Add(value, load_some(d, residual + begin + i, left));
      store_some(value, d, y + begin + i, left);
    }
  }
}

void DropoutBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::uint16_t* bits, std::size_t n) {
  HWY_ALIGN std::uint16_t chunk[kChunk];
  for (std::size_t begin = 0; begin < n; begin += kChunk) {
    const std::size_t count = std::min(kChunk, n - begin);
    draw(seed, stream, (first + begin) / 8, count, chunk);
    std::memcpy(bits + begin, chunk, count * sizeof(std::uint16_t));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(Dropout);
HEED_EXPORT(DropoutBits);

void dropout(const DropoutRule& rule, std::uint64_t first, const float* x, const float* residual, float* y,
             std::size_t n) {
  HEED_DISPATCH(Dropout)(rule, first, x, residual, y, n);
}

void dropout_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::uint16_t* bits, std::size_t n) {
  HEED_DISPATCH(DropoutBits)(seed, stream, first, bits, n);
}

}  // namespace heed::kernels
#endif
