#include "heed/kernels/widen_blocks.h"

#include <cstdint>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/float16.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/widen_blocks.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What lies where in a block is said in heed/tensor/blocks.cc. Here a block is unpacked to a byte for each number, 16
// or 32 of which have a factor and something less in common.

using Byte = unsigned char;

HWY_INLINE float half_at(const Byte* at) {
  Float16 half{};
  std::memcpy(&half, at, sizeof half);
  return to_float(half);
}

// to[i] = factor * (q[i] - zero) - less.
template <int kCount, typename Number>
HWY_INLINE void scale(const Number* q, float factor, float zero, float less, float* to) {
  const hn::CappedTag<float, kCount> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<Number, decltype(d)> d8;
  const auto factors = hn::Set(d, factor), zeros = hn::Set(d, zero), subtrahends = hn::Set(d, less);
  for (std::size_t i = 0; i < kCount; i += hn::Lanes(d)) {
    const auto whole = hn::Sub(hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, q + i))), zeros);
    hn::StoreU(hn::Sub(hn::Mul(whole, factors), subtrahends), d, to + i);
  }
}

using Bytes = hn::CappedTag<Byte, 16>;
constexpr int kByteLanes = static_cast<int>(hn::MaxLanes(Bytes()));

// The 32 numbers of 16 bytes.
HWY_INLINE void unpack_halves(const Byte* bytes, Byte* q) {
  const Bytes d;
  for (int i = 0; i < 16; i += kByteLanes) {
    const auto both = hn::LoadU(d, bytes + i);
    hn::StoreU(hn::And(both, hn::Set(d, 15)), d, q + i);
    hn::StoreU(hn::ShiftRight<4>(both), d, q + 16 + i);
  }
}

// Adds 16 to those of 32 numbers whose bits are set.
HWY_INLINE void add_fifth_bits(const Byte* bits, Byte* q) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 32; ++i) q[i] = static_cast<Byte>(q[i] | ((bits[i / 8] >> (i % 8)) & 1) << 4);
#else
  const Bytes d;
  for (int i = 0; i < 32; i += kByteLanes) {
    const auto set = hn::LoadMaskBits(d, bits + i / 8);
    hn::StoreU(hn::Or(hn::LoadU(d, q + i), hn::IfThenElseZero(set, hn::Set(d, 16))), d, q + i);
  }
#endif
}

// Four or five bits: d, with a minimum m, with fifth bits, and 16 bytes.
template <bool kMinimum, bool kFifth>
void widen_simple(const Byte* block, Index count, float* to) {
  constexpr int kHead = kMinimum ? 4 : 2, kHigh = kFifth ? 4 : 0;
  constexpr float kZero = kMinimum ? 0 : kFifth ? 16 : 8;
  HWY_ALIGN Byte q[32];
  for (Index b = 0; b < count; ++b, block += kHead + kHigh + 16, to += 32) {
    unpack_halves(block + kHead + kHigh, q);
    if constexpr (kFifth) add_fifth_bits(block + kHead, q);
    scale<32>(q, half_at(block), kZero, kMinimum ? -half_at(block + 2) : 0.0f, to);
  }
}

void widen_q4_0(const Byte* block, Index count, float* to) { widen_simple<false, false>(block, count, to); }
void widen_q4_1(const Byte* block, Index count, float* to) { widen_simple<true, false>(block, count, to); }
void widen_q5_0(const Byte* block, Index count, float* to) { widen_simple<false, true>(block, count, to); }
void widen_q5_1(const Byte* block, Index count, float* to) { widen_simple<true, true>(block, count, to); }

void widen_q8_0(const Byte* block, Index count, float* to) {
  for (Index b = 0; b < count; ++b, block += 34, to += 32) {
    scale<32>(reinterpret_cast<const std::int8_t*>(block + 2), half_at(block), 0.0f, 0.0f, to);
  }
}

// The scales and minima of eight groups, of six bits each, from twelve bytes.
HWY_INLINE void unpack_scales(const Byte* packed, Byte* scales, Byte* minima) {
  for (int i = 0; i < 4; ++i) {
    scales[i] = packed[i] & 63;
    minima[i] = packed[i + 4] & 63;
    scales[i + 4] = static_cast<Byte>((packed[i + 8] & 15) | (packed[i] >> 6) << 4);
    minima[i + 4] = static_cast<Byte>((packed[i + 8] >> 4) | (packed[i + 4] >> 6) << 4);
  }
}

template <bool kFifth>
void widen_k(const Byte* block, Index count, float* to) {
  constexpr int kHigh = 16, kLow = kFifth ? 48 : 16;
  const Bytes d8;
  HWY_ALIGN Byte q[32];
  Byte scales[8], minima[8];
  for (Index b = 0; b < count; ++b, block += kLow + 128) {
    const float d = half_at(block), m = half_at(block + 2);
    unpack_scales(block + 4, scales, minima);
    for (int group = 0; group < 8; ++group, to += 32) {
      const Byte *const low = block + kLow + group / 2 * 32, *const high = block + kHigh;
      const auto fifth = hn::Set(d8, static_cast<Byte>(1 << group)), sixteen = hn::Set(d8, 16);
      for (int i = 0; i < 32; i += kByteLanes) {
        const auto both = hn::LoadU(d8, low + i);
        auto number = group % 2 == 0 ? hn::And(both, hn::Set(d8, 15)) : hn::ShiftRight<4>(both);
        if constexpr (kFifth) {
          const auto set = hn::TestBit(hn::LoadU(d8, high + i), fifth);
          number = hn::Or(number, hn::IfThenElseZero(set, sixteen));
        }
        hn::StoreU(number, d8, q + i);
      }
      scale<32>(q, d * static_cast<float>(scales[group]), 0.0f, m * static_cast<float>(minima[group]), to);
    }
  }
}

void widen_q4_k(const Byte* block, Index count, float* to) { widen_k<false>(block, count, to); }
void widen_q5_k(const Byte* block, Index count, float* to) { widen_k<true>(block, count, to); }

void widen_q6_k(const Byte* block, Index count, float* to) {
  const Bytes d8;
  HWY_ALIGN Byte q[32];
  for (Index b = 0; b < count; ++b, block += 210) {
    const float d = half_at(block + 208);
    const auto* scales = reinterpret_cast<const std::int8_t*>(block + 192);
    for (int group = 0; group < 8; ++group, to += 32, scales += 2) {
      const int half = group / 4, part = group % 4;
      const Byte *const low = block + 64 * half + part % 2 * 32, *const high = block + 128 + 32 * half;
      for (int i = 0; i < 32; i += kByteLanes) {
        const auto both = hn::LoadU(d8, low + i);
        const auto number = part < 2 ? hn::And(both, hn::Set(d8, 15)) : hn::ShiftRight<4>(both);
        const auto upper = hn::And(hn::ShiftRightSame(hn::LoadU(d8, high + i), 2 * part), hn::Set(d8, 3));
        hn::StoreU(hn::Or(number, hn::ShiftLeft<4>(upper)), d8, q + i);
      }
      scale<16>(q, d * static_cast<float>(scales[0]), 32.0f, 0.0f, to);
      scale<16>(q + 16, d * static_cast<float>(scales[1]), 32.0f, 0.0f, to + 16);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(widen_q4_0);
HWY_EXPORT(widen_q4_1);
HWY_EXPORT(widen_q5_0);
HWY_EXPORT(widen_q5_1);
HWY_EXPORT(widen_q8_0);
HWY_EXPORT(widen_q4_k);
HWY_EXPORT(widen_q5_k);
HWY_EXPORT(widen_q6_k);

void widen(BlockType type, const unsigned char* blocks, Index count, float* to) {
  switch (type) {
    case BlockType::q4_0:
      return HEED_DISPATCH(widen_q4_0)(blocks, count, to);
    case BlockType::q4_1:
      return HEED_DISPATCH(widen_q4_1)(blocks, count, to);
    case BlockType::q5_0:
      return HEED_DISPATCH(widen_q5_0)(blocks, count, to);
    case BlockType::q5_1:
      return HEED_DISPATCH(widen_q5_1)(blocks, count, to);
    case BlockType::q8_0:
      return HEED_DISPATCH(widen_q8_0)(blocks, count, to);
    case BlockType::q4_k:
      return HEED_DISPATCH(widen_q4_k)(blocks, count, to);
    case BlockType::q5_k:
      return HEED_DISPATCH(widen_q5_k)(blocks, count, to);
    case BlockType::q6_k:
      return HEED_DISPATCH(widen_q6_k)(blocks, count, to);
    case BlockType::none:
      break;
  }
  fail("kernels::widen: {} is no type of blocks", name_of(type));
}

}  // namespace heed::kernels
#endif
