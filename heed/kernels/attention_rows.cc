#include "heed/kernels/attention_rows.h"

#include <cstring>

#include "heed/base/random.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_rows-inl.h"
#include "heed/kernels/philox-inl.h"

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

// Zero times every element, added up, is NaN where an element is NaN or infinite; only then is each looked at. Eight
// rows at a time, since one sum waits for itself; the last of them stands for those that are not there.
bool any_nan_kernel(Index rows, Index columns, const float* x, Index row) {
  constexpr Index kRows = 8;
  const Floats d;
  const Index whole = columns / lanes() * lanes();
  const Vector zero = hn::Zero(d);
  Vector sums[kRows] = {zero, zero, zero, zero, zero, zero, zero, zero}, sum = zero;
  for (Index first = 0; first < rows; first += kRows) {
    const float* at[kRows];
    HWY_UNROLL(8)
    for (Index r = 0; r < kRows; ++r) at[r] = x + std::min(first + r, rows - 1) * row;
    for (Index c = 0; c < whole; c += lanes()) {
      HWY_UNROLL(8)
      for (Index r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(hn::LoadU(d, at[r] + c), zero, sums[r]);
    }
  }
  HWY_UNROLL(8)
  for (Index r = 0; r < kRows; ++r) sum = hn::Add(sum, sums[r]);
  for (Index r = 0; whole < columns && r < rows; ++r) {
    const Vector rest = load_some(d, x + r * row + whole, static_cast<std::size_t>(columns - whole));
    sum = hn::MulAdd(rest, zero, sum);
  }
  if (hn::AllFalse(d, hn::IsNaN(sum))) return false;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; c += lanes()) {
      const Vector some = load_some(d, x + r * row + c, static_cast<std::size_t>(columns - c));
      if (!hn::AllFalse(d, hn::IsNaN(some))) return true;
    }
  return false;
}

// 16-bit numbers whose magnitude is beyond that of infinity.
bool any_nan_bits_kernel(Index rows, Index columns, const std::uint16_t* x, Index row, std::int16_t infinity) {
  const hn::ScalableTag<std::int16_t> d;
  const Index step = static_cast<Index>(hn::Lanes(d));
  for (Index r = 0; r < rows; ++r) {
    const std::int16_t* const numbers = reinterpret_cast<const std::int16_t*>(x + r * row);
    auto nan = hn::Zero(d);
    for (Index c = 0; c < columns; c += step) {
      const auto bits = load_some(d, numbers + c, static_cast<std::size_t>(columns - c));
      const auto magnitude = hn::And(bits, hn::Set(d, std::int16_t{0x7FFF}));
      nan = hn::Or(nan, hn::VecFromMask(d, hn::Gt(magnitude, hn::Set(d, infinity))));
    }
    if (!hn::AllTrue(d, hn::Eq(nan, hn::Zero(d)))) return true;
  }
  return false;
}

#if HWY_TARGET != HWY_SCALAR
using Words = hn::CappedTag<std::uint32_t, kAttentionLanes>;

void dropout_bits_kernel(std::uint64_t seed, std::uint64_t stream, Index first_row, Index rows, Index first_key,
                         Index columns, std::uint16_t* bits, Index stride) {
  const Words d;
  const Index blocks = (columns + 7) / 8, n = static_cast<Index>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t low[kAttentionLanes] = {}, high[kAttentionLanes] = {};
  HWY_ALIGN std::uint32_t out[4 * kAttentionLanes] = {};
  std::uint16_t* to[kAttentionLanes] = {};
  Index filled = 0;
  const auto flush = [&] {
    const auto drawn = philox_lanes(d, seed, stream, hn::Load(d, low), hn::Load(d, high));
    hn::StoreInterleaved4(drawn.word0, drawn.word1, drawn.word2, drawn.word3, d, out);
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

HEED_EXPORT(score_rows_kernel);
HEED_EXPORT(drop_rows_kernel);
HEED_EXPORT(row_dots_kernel);
HEED_EXPORT(any_nan_kernel);
HEED_EXPORT(any_nan_bits_kernel);
HEED_EXPORT(dropout_bits_kernel);

void attention_score_rows(const AttentionRows& rows, float* tile) { HEED_DISPATCH(score_rows_kernel)(rows, tile); }

void attention_drop_rows(const AttentionRows& rows, float* tile) { HEED_DISPATCH(drop_rows_kernel)(rows, tile); }

void attention_row_dots(Index rows, Index columns, const float* a, Index a_row, const float* b, Index b_row,
                        float* result) {
  HEED_DISPATCH(row_dots_kernel)(rows, columns, a, a_row, b, b_row, result);
}

bool attention_any_nan(Index rows, Index columns, const float* x, Index row) {
  return HEED_DISPATCH(any_nan_kernel)(rows, columns, x, row);
}

bool attention_any_nan(Index rows, Index columns, const BFloat16* x, Index row) {
  return HEED_DISPATCH(any_nan_bits_kernel)(rows, columns, reinterpret_cast<const std::uint16_t*>(x), row, 0x7F80);
}

bool attention_any_nan(Index rows, Index columns, const Float16* x, Index row) {
  return HEED_DISPATCH(any_nan_bits_kernel)(rows, columns, reinterpret_cast<const std::uint16_t*>(x), row, 0x7C00);
}

void attention_dropout_bits(std::uint64_t seed, std::uint64_t stream, Index first_row, Index rows, Index first_key,
                            Index columns, std::uint16_t* bits, Index stride) {
  HEED_DISPATCH(dropout_bits_kernel)(seed, stream, first_row, rows, first_key, columns, bits, stride);
}

}  // namespace heed::kernels
#endif
