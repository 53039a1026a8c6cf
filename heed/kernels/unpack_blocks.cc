#include "heed/kernels/unpack_blocks.h"

#include <algorithm>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/float16.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/unpack_blocks.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Byte = unsigned char;
constexpr int kHalf = 32;  // numbers: of a small block, and of a group of a large one

// Where a row's numbers go.
struct UnpackedRow {
  std::uint8_t* bytes;
  float *scale, *less;
};

HWY_INLINE float half_at(const Byte* at) {
  const hn::CappedTag<float, 1> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  const hn::Rebind<std::uint16_t, decltype(d)> bits;
  std::uint16_t half;
  std::memcpy(&half, at, sizeof half);
  return hn::GetLane(hn::PromoteTo(d, hn::BitCast(d16, hn::Set(bits, half))));
}

// What half `nth` of a row has in common.
HWY_INLINE void share(const UnpackedRow& to, Index nth, float scale, float less) {
  to.scale[2 * nth] = to.scale[2 * nth + 1] = scale;
  to.less[2 * nth] = to.less[2 * nth + 1] = less;
}

// f(i) gives the numbers i, i + 1, ... of 32, some of which a vector has.
using Bytes = hn::CappedTag<Byte, kHalf>;
template <typename F>
HWY_INLINE void store_half(const F& f, Byte* to) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(Bytes()));
  for (int i = 0; i < kHalf; i += kLanes) hn::StoreU(f(i), Bytes(), to + i);
}

template <class V>
HWY_INLINE V lower_nibbles(V bytes) {
  return hn::And(bytes, hn::Set(hn::DFromV<V>(), 15));
}
template <class V>
HWY_INLINE V upper_nibbles(V bytes) {
  return hn::ShiftRight<4>(bytes);
}

// What lies where in a block is said in heed/tensor/blocks.cc.

// Adds 16 to the numbers from the nth on whose bits are set.
template <class V>
HWY_INLINE V with_fifth(V numbers, const Byte* bits, int nth) {
  const hn::DFromV<V> d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Or(numbers, hn::Set(d, static_cast<Byte>(((bits[nth / 8] >> (nth % 8)) & 1) << 4)));
#else
  return hn::Or(numbers, hn::IfThenElseZero(hn::LoadMaskBits(d, bits + nth / 8), hn::Set(d, 16)));
#endif
}

// Four or five bits: d, with a minimum m, with fifth bits, and 16 bytes.
template <bool kMinimum, bool kFifth>
HWY_INLINE void unpack_simple(const Byte* block, Index blocks, BlockType type, const UnpackedRow& to) {
  constexpr int kHead = kMinimum ? 4 : 2, kHigh = kFifth ? 4 : 0, kPacked = 16;
  const hn::CappedTag<Byte, kPacked> bytes;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(decltype(bytes)()));
  for (Index n = 0; n < blocks; ++n, block += kHead + kHigh + kPacked) {
    Byte* const numbers = to.bytes + n * kHalf;
    for (int i = 0; i < kPacked; i += kLanes) {
      const auto both = hn::LoadU(bytes, block + kHead + kHigh + i);
      auto lower = lower_nibbles(both), upper = upper_nibbles(both);
      if constexpr (kFifth) {
        lower = with_fifth(lower, block + kHead, i), upper = with_fifth(upper, block + kHead, kPacked + i);
      }
      hn::StoreU(lower, bytes, numbers + i), hn::StoreU(upper, bytes, numbers + kPacked + i);
    }
    const float d = half_at(block);
    share(to, n, d, kMinimum ? -half_at(block + 2) : zero_of(type) * d);
  }
}

HWY_INLINE void unpack_q8_0(const Byte* block, Index blocks, BlockType type, const UnpackedRow& to) {
  const Bytes d8;
  for (Index n = 0; n < blocks; ++n, block += 34) {
    const auto numbers = [&](int i) HWY_ATTR { return hn::Xor(hn::LoadU(d8, block + 2 + i), hn::Set(d8, 128)); };
    store_half(numbers, to.bytes + n * kHalf);
    const float d = half_at(block);
    share(to, n, d, zero_of(type) * d);
  }
}

// The scales and minima of eight groups, of six bits each, from twelve bytes: four words of four.
HWY_INLINE void unpack_scales(const Byte* packed, std::uint32_t (&scales)[2], std::uint32_t (&minima)[2]) {
  std::uint32_t words[3];
  std::memcpy(words, packed, sizeof words);
  constexpr std::uint32_t kSix = 0x3F3F3F3F, kFour = 0x0F0F0F0F, kTwo = 0x30303030;
  scales[0] = words[0] & kSix, scales[1] = (words[2] & kFour) | (words[0] >> 2 & kTwo);
  minima[0] = words[1] & kSix, minima[1] = (words[2] >> 4 & kFour) | (words[1] >> 2 & kTwo);
}

// factor times eight bytes, each twice.
HWY_INLINE void store_twice(const std::uint32_t (&words)[2], float factor, float* to) {
  for (int word = 0; word < 2; ++word, to += 8) {
#if HWY_TARGET == HWY_SCALAR
    for (int i = 0; i < 4; ++i) to[2 * i] = to[2 * i + 1] = factor * static_cast<float>(words[word] >> (8 * i) & 255);
#else
    const hn::CappedTag<float, 4> d;
    const hn::RebindToSigned<decltype(d)> d32;
    const hn::Rebind<Byte, decltype(d)> d8;
    const auto bytes = hn::LoadU(d8, static_cast<const Byte*>(static_cast<const void*>(&words[word])));
    const auto numbers = hn::Mul(hn::ConvertTo(d, hn::PromoteTo(d32, bytes)), hn::Set(d, factor));
    hn::StoreU(hn::InterleaveLower(d, numbers, numbers), d, to);
    hn::StoreU(hn::InterleaveUpper(d, numbers, numbers), d, to + 4);
#endif
  }
}

template <bool kFifth>
HWY_INLINE void unpack_k(const Byte* block, Index blocks, BlockType, UnpackedRow to) {
  constexpr int kHigh = 16, kLow = kFifth ? 48 : 16;
  const Bytes d;
  for (Index n = 0; n < blocks; ++n, block += kLow + 128) {
    std::uint32_t scales[2], minima[2];
    unpack_scales(block + 4, scales, minima);
    store_twice(scales, half_at(block), to.scale + n * 16);
    store_twice(minima, half_at(block + 2), to.less + n * 16);
    for (int group = 0; group < 8; ++group, to.bytes += kHalf) {
      const Byte *const low = block + kLow + group / 2 * kHalf, *const high = block + kHigh;
      const auto fifth = hn::Set(d, static_cast<Byte>(1 << group));
      const auto numbers = [&](int i) HWY_ATTR {
        const auto both = hn::LoadU(d, low + i);
        const auto nibbles = group % 2 == 0 ? lower_nibbles(both) : upper_nibbles(both);
        if constexpr (!kFifth) return nibbles;
        const auto set = hn::TestBit(hn::LoadU(d, high + i), fifth);
        return hn::Or(nibbles, hn::IfThenElseZero(set, hn::Set(d, 16)));
      };
      store_half(numbers, to.bytes);
    }
  }
}

// The pair of bits number `part` of each byte.
template <class V>
HWY_INLINE V two_bits(V bytes, int part) {
  return hn::And(hn::ShiftRightSame(bytes, 2 * part), hn::Set(hn::DFromV<V>(), 3));
}

// Of sixteen integers of eight bits, f(i, numbers) with numbers i, i + 1, ... as floats, as many as a vector has.
template <typename Integer, typename F>
HWY_INLINE void for_sixteen(const Integer* integers, const F& f) {
  const hn::CappedTag<float, kShares> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<Integer, decltype(d)> d8;
  for (std::size_t i = 0; i < kShares; i += hn::Lanes(d)) {
    f(static_cast<Index>(i), d, hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, integers + i))));
  }
}

// The scales of the nth block of 256 numbers: d times sixteen integers with a sign.
HWY_INLINE void store_scales(const std::int8_t* integers, float d, BlockType type, Index nth, const UnpackedRow& to) {
  for_sixteen(integers, [&](Index i, auto tag, auto numbers) HWY_ATTR {
    const auto scale = hn::Mul(numbers, hn::Set(tag, d));
    hn::StoreU(scale, tag, to.scale + nth * kShares + i);
    hn::StoreU(hn::Mul(scale, hn::Set(tag, zero_of(type))), tag, to.less + nth * kShares + i);
  });
}

HWY_INLINE void unpack_q2_k(const Byte* block, Index blocks, BlockType, UnpackedRow to) {
  const Bytes d8;
  for (Index n = 0; n < blocks; ++n, block += 84) {
    for (int group = 0; group < 8; ++group, to.bytes += kHalf) {
      const Byte* const q = block + 16 + group / 4 * kHalf;
      store_half([&](int i) HWY_ATTR { return two_bits(hn::LoadU(d8, q + i), group % 4); }, to.bytes);
    }
    Byte scales[kShares], minima[kShares];
    for (Index i = 0; i < kShares; ++i) scales[i] = block[i] & 15, minima[i] = static_cast<Byte>(block[i] >> 4);
    const auto store = [&](const Byte* integers, float factor, float* at) HWY_ATTR {
      for_sixteen(integers, [&](Index i, auto d, auto numbers) HWY_ATTR {
        hn::StoreU(hn::Mul(numbers, hn::Set(d, factor)), d, at + n * kShares + i);
      });
    };
    store(scales, half_at(block + 80), to.scale), store(minima, half_at(block + 82), to.less);
  }
}

// Sixteen scales of six bits, from twelve bytes: four words of four.
HWY_INLINE void unpack_scales(const Byte* packed, std::int8_t (&scales)[kShares]) {
  std::uint32_t words[3];
  std::memcpy(words, packed, sizeof words);
  constexpr std::uint32_t kFour = 0x0F0F0F0F, kTwo = 0x03030303;
  for (int word = 0; word < 4; ++word) {
    const std::uint32_t four = (words[word % 2] >> (word / 2 * 4) & kFour) | (words[2] >> (2 * word) & kTwo) << 4;
    for (int i = 0; i < 4; ++i)
      scales[4 * word + i] = static_cast<std::int8_t>(static_cast<int>(four >> (8 * i) & 63) - 32);
  }
}

HWY_INLINE void unpack_q3_k(const Byte* block, Index blocks, BlockType type, UnpackedRow to) {
  const Bytes d8;
  for (Index n = 0; n < blocks; ++n, block += 110) {
    for (int group = 0; group < 8; ++group, to.bytes += kHalf) {
      const Byte* const q = block + kHalf + group / 4 * kHalf;
      const auto third = hn::Set(d8, static_cast<Byte>(1 << group));
      const auto numbers = [&](int i) HWY_ATTR {
        const auto set = hn::TestBit(hn::LoadU(d8, block + i), third);
        return hn::Or(two_bits(hn::LoadU(d8, q + i), group % 4), hn::IfThenElseZero(set, hn::Set(d8, 4)));
      };
      store_half(numbers, to.bytes);
    }
    std::int8_t scales[kShares];
    unpack_scales(block + 96, scales);
    store_scales(scales, half_at(block + 108), type, n, to);
  }
}

// The levels that 16 bytes of four bits stand for, without a sign.
HWY_INLINE void unpack_levels(const Byte* q, Byte* to) {
  const auto without_sign = [](int bits) { return static_cast<Byte>(kBlockLevels[bits] + 128); };
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 16; ++i) to[i] = without_sign(q[i] & 15), to[16 + i] = without_sign(q[i] >> 4);
#else
  HWY_ALIGN Byte levels[16];
  for (int i = 0; i < 16; ++i) levels[i] = without_sign(i);
  const hn::CappedTag<Byte, 16> d;
  const auto table = hn::Load(d, levels), both = hn::LoadU(d, q);
  hn::StoreU(hn::TableLookupBytes(table, lower_nibbles(both)), d, to);
  hn::StoreU(hn::TableLookupBytes(table, upper_nibbles(both)), d, to + 16);
#endif
}

HWY_INLINE void unpack_iq4_nl(const Byte* block, Index blocks, BlockType type, const UnpackedRow& to) {
  for (Index n = 0; n < blocks; ++n, block += 18) {
    unpack_levels(block + 2, to.bytes + n * kHalf);
    const float d = half_at(block);
    share(to, n, d, zero_of(type) * d);
  }
}

HWY_INLINE void unpack_iq4_xs(const Byte* block, Index blocks, BlockType type, UnpackedRow to) {
  for (Index n = 0; n < blocks; ++n, block += 136) {
    const int high = block[2] | block[3] << 8;
    std::int8_t scales[kShares];
    for (int group = 0; group < 8; ++group, to.bytes += kHalf) {
      unpack_levels(block + 8 + 16 * group, to.bytes);
      const int bits = (block[4 + group / 2] >> (group % 2 * 4) & 15) | (high >> (2 * group) & 3) << 4;
      scales[2 * group] = scales[2 * group + 1] = static_cast<std::int8_t>(bits - 32);
    }
    store_scales(scales, half_at(block), type, n, to);
  }
}

HWY_INLINE void unpack_q6_k(const Byte* block, Index blocks, BlockType type, UnpackedRow to) {
  const Bytes d8;
  for (Index n = 0; n < blocks; ++n, block += 210) {
    for (int group = 0; group < 8; ++group, to.bytes += kHalf) {
      const int half = group / 4, part = group % 4;
      const Byte *const low = block + 64 * half + part % 2 * kHalf, *const high = block + 128 + 32 * half;
      const auto numbers = [&](int i) HWY_ATTR {
        const auto both = hn::LoadU(d8, low + i);
        const auto upper = two_bits(hn::LoadU(d8, high + i), part);
        return hn::Or(part < 2 ? lower_nibbles(both) : upper_nibbles(both), hn::ShiftLeft<4>(upper));
      };
      store_half(numbers, to.bytes);
    }
    const auto* const scales = static_cast<const std::int8_t*>(static_cast<const void*>(block + 192));
    store_scales(scales, half_at(block + 208), type, n, to);
  }
}

void unpack_row(BlockType type, const Byte* block, Index blocks, const UnpackedRow& to) {
  switch (type) {
    case BlockType::q4_0:
      return unpack_simple<false, false>(block, blocks, type, to);
    case BlockType::q4_1:
      return unpack_simple<true, false>(block, blocks, type, to);
    case BlockType::q5_0:
      return unpack_simple<false, true>(block, blocks, type, to);
    case BlockType::q5_1:
      return unpack_simple<true, true>(block, blocks, type, to);
    case BlockType::q8_0:
      return unpack_q8_0(block, blocks, type, to);
    case BlockType::q4_k:
      return unpack_k<false>(block, blocks, type, to);
    case BlockType::q5_k:
      return unpack_k<true>(block, blocks, type, to);
    case BlockType::q6_k:
      return unpack_q6_k(block, blocks, type, to);
    case BlockType::q2_k:
      return unpack_q2_k(block, blocks, type, to);
    case BlockType::q3_k:
      return unpack_q3_k(block, blocks, type, to);
    case BlockType::iq4_nl:
      return unpack_iq4_nl(block, blocks, type, to);
    case BlockType::iq4_xs:
      return unpack_iq4_xs(block, blocks, type, to);
    case BlockType::none:
      return;
  }
}

void unpack_kernel(const Byte* blocks, const UnpackedRows& to) {
  const Index lines = to.lines(), shares = to.shares(), count = to.width / layout_of(to.type).numbers;
  for (Index j = 0; j < to.count; ++j, blocks += count * layout_of(to.type).bytes) {
    const UnpackedRow row{to.bytes + j * lines * kDigitLine, to.scale + j * shares, to.less + j * shares};
    const Index known = to.width / kShareNumbers;  // the rest are zeros times what lies there
    std::fill(row.scale + known, row.scale + shares, 0.0f), std::fill(row.less + known, row.less + shares, 0.0f);
    unpack_row(to.type, blocks, count, row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(unpack_kernel);

void unpack_blocks(const unsigned char* blocks, const UnpackedRows& to) {
  HEED_CHECK(to.type != BlockType::none, "unpack_blocks: {} is no type of blocks", name_of(to.type));
  HEED_DISPATCH(unpack_kernel)(blocks, to);
}

}  // namespace heed::kernels
#endif
