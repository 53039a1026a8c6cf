#include "heed/kernels/attention_rows.h"

#include <cstring>

#include "heed/base/random.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

void score_rows_kernel(const AttentionRows& t, float* tile) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r)
    for (Index c = 0; c < t.columns; c += lanes()) {
      float* at = tile + r * t.stride + c;
      hn::StoreU(scaled_and_capped(t, hn::LoadU(d, at)), d, at);
    }
}

void drop_rows_kernel(const AttentionRows& t, float* tile) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r)
    for (Index c = 0; c < padded(t.columns); c += lanes()) {
      const Index at = r * t.stride + c;
      hn::StoreU(dropped(t, t.bits + at, hn::LoadU(d, tile + at)), d, tile + at);
    }
}

void row_dots_kernel(Index rows, Index columns, const float* a, Index a_row, const float* b, Index b_row,
                     float* result) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    Vector sums = hn::Zero(d);
    for (Index c = 0; c < columns; c += lanes()) {
      const std::size_t present = static_cast<std::size_t>(columns - c);
      sums = hn::MulAdd(load_some(d, a + r * a_row + c, present), load_some(d, b + r * b_row + c, present), sums);
    }
    result[r] = hn::GetLane(hn::SumOfLanes(d, sums));
  }
}

bool any_nan_kernel(Index rows, Index columns, const float* x, Index row) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    Mask nan = hn::FirstN(d, 0);
    for (Index c = 0; c < columns; c += lanes()) {
      nan = hn::Or(nan, hn::IsNaN(load_some(d, x + r * row + c, static_cast<std::size_t>(columns - c))));
    }
    if (!hn::AllFalse(d, nan)) return true;
  }
  return false;
}

#if HWY_TARGET != HWY_SCALAR
using Words = hn::CappedTag<std::uint32_t, kAttentionLanes>;

// The high and low halves of a * multiplier.
HWY_INLINE void wide_product(hn::Vec<Words> a, std::uint32_t multiplier, hn::Vec<Words>& high, hn::Vec<Words>& low) {
  const Words d;
  const hn::RepartitionToWide<Words> d64;
  const auto factor = hn::Set(d, multiplier);
  const auto even = hn::MulEven(a, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a))), factor);
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

// Philox4x32-10 of base/random.h, a block to a lane, the blocks one after another in `out`.
HWY_INLINE void philox_lanes(std::uint64_t seed, std::uint64_t stream, const std::uint32_t* low,
                             const std::uint32_t* high, std::uint32_t* out) {
  const Words d;
  auto c0 = hn::Load(d, low), c1 = hn::Load(d, high);
  auto c2 = hn::Set(d, static_cast<std::uint32_t>(stream)), c3 = hn::Set(d, static_cast<std::uint32_t>(stream >> 32));
  std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    hn::Vec<Words> high0, low0, high1, low1;
    wide_product(c0, 0xD2511F53u, high0, low0);
    wide_product(c2, 0xCD9E8D57u, high1, low1);
    c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
    c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
    c1 = low1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  hn::StoreInterleaved4(c0, c1, c2, c3, d, out);
}

void dropout_bits_kernel(std::uint64_t seed, std::uint64_t stream, Index first_row, Index rows, Index first_key,
                         Index columns, std::uint16_t* bits, Index stride) {
  const Index blocks = (columns + 7) / 8, n = static_cast<Index>(hn::Lanes(Words()));
  HWY_ALIGN std::uint32_t low[kAttentionLanes] = {}, high[kAttentionLanes] = {};
  HWY_ALIGN std::uint32_t out[4 * kAttentionLanes] = {};
  std::uint16_t* to[kAttentionLanes] = {};
  Index filled = 0;
  const auto flush = [&] {
    philox_lanes(seed, stream, low, high, out);
    for (Index lane = 0; lane < filled; ++lane) std::memcpy(to[lane], out + 4 * lane, 16);
    filled = 0;
  };
  for (Index r = 0; r < rows; ++r)
    for (Index block = 0; block < blocks; ++block) {
      low[filled] = static_cast<std::uint32_t>(first_key / 8 + block);
      high[filled] = static_cast<std::uint32_t>(first_row + r);
      to[filled] = bits + r * stride + block * 8;
      if (++filled == n) flush();
    }
  if (filled > 0) flush();
}
#else
void dropout_bits_kernel(std::uint64_t seed, std::uint64_t stream, Index first_row, Index rows, Index first_key,
                         Index columns, std::uint16_t* bits, Index stride) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; c += 8) {
      const std::uint64_t counter =
          (static_cast<std::uint64_t>(first_row + r) << 32) + static_cast<std::uint64_t>((first_key + c) / 8);
      const PhiloxBlock block = philox(seed, stream, counter);
      for (Index e = 0; e < 8; ++e)
        bits[r * stride + c + e] = static_cast<std::uint16_t>(block[static_cast<std::size_t>(e / 2)] >> (e % 2 * 16));
    }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(score_rows_kernel);
HWY_EXPORT(drop_rows_kernel);
HWY_EXPORT(row_dots_kernel);
HWY_EXPORT(any_nan_kernel);
HWY_EXPORT(dropout_bits_kernel);

void attention_score_rows(const AttentionRows& rows, float* tile) { HEED_DISPATCH(score_rows_kernel)(rows, tile); }

void attention_drop_rows(const AttentionRows& rows, float* tile) { HEED_DISPATCH(drop_rows_kernel)(rows, tile); }

void attention_row_dots(Index rows, Index columns, const float* a, Index a_row, const float* b, Index b_row,
                        float* result) {
  HEED_DISPATCH(row_dots_kernel)(rows, columns, a, a_row, b, b_row, result);
}

bool attention_any_nan(Index rows, Index columns, const float* x, Index row) {
  return HEED_DISPATCH(any_nan_kernel)(rows, columns, x, row);
}

void attention_dropout_bits(std::uint64_t seed, std::uint64_t stream, Index first_row, Index rows, Index first_key,
                            Index columns, std::uint16_t* bits, Index stride) {
  HEED_DISPATCH(dropout_bits_kernel)(seed, stream, first_row, rows, first_key, columns, bits, stride);
}

}  // namespace heed::kernels
#endif
