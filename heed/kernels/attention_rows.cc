#include "heed/kernels/attention_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/random.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Floats = hn::CappedTag<float, kAttentionLanes>;
using Vector = hn::Vec<Floats>;
using Mask = hn::Mask<Floats>;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(Floats())); }

HWY_INLINE Vector scaled_and_capped(const AttentionRows& t, Vector product) {
  const Floats d;
  const Vector score = hn::Mul(product, hn::Set(d, t.scale));
  if (t.cap == 0) return score;
  return hn::Mul(hn::Set(d, t.cap), tanh(d, hn::Div(score, hn::Set(d, t.cap))));
}

// The row's span of whole vectors: columns outside it are refused.
struct Span {
  Index begin, end;   // allowed columns
  Index first, last;  // the vectors that hold them: multiples of the lanes
};

HWY_INLINE Span span_of(const AttentionRows& t, Index r) {
  const Index begin = std::max<Index>(t.begin[r], 0), end = std::min(t.end[r], t.columns), n = lanes();
  if (end <= begin) return {0, 0, 0, 0};
  return {begin, end, begin / n * n, (end + n - 1) / n * n};
}

// Lanes 0 .. N-1 of column c that the span and the dense mask allow.
HWY_INLINE Mask allowed_lanes(const AttentionRows& t, Index r, const Span& span, Index c) {
  const Floats d;
  Mask allowed = hn::FirstN(d, static_cast<std::size_t>(std::min(span.end - c, lanes())));
  if (c < span.begin) allowed = hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(span.begin - c)), allowed);
  if (t.allowed != nullptr) {
    const hn::Rebind<std::uint8_t, Floats> d8;
    const hn::Rebind<std::uint32_t, Floats> d32;
    const std::size_t present = static_cast<std::size_t>(std::min(t.columns - c, lanes()));
    const auto bytes = hn::PromoteTo(d32, load_some(d8, t.allowed + r * t.allowed_row + c, present));
    allowed = hn::And(allowed, hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(d32, hn::Ne(bytes, hn::Zero(d32))))));
  }
  return allowed;
}

// Scale, cap, bias and mask: a refused column becomes -inf.
HWY_INLINE Vector final_score(const AttentionRows& t, Index r, const Span& span, Index c, Vector after_cap) {
  const Floats d;
  Vector score = after_cap;
  if (t.bias != nullptr) {
    score = hn::Add(score, hn::LoadU(d, t.bias + r * t.stride + c));
  }
  const bool inside = c >= span.begin && c + lanes() <= span.end;
  if (inside && t.allowed == nullptr) return score;
  return hn::IfThenElse(allowed_lanes(t, r, span, c), score, hn::Set(d, kMinusInfinity));
}

HWY_INLINE Mask is_refused(Vector score) { return hn::Eq(score, hn::Set(Floats(), kMinusInfinity)); }

// exp(x), and zero below -87: no weight is subnormal, which would cost a hundred cycles wherever it goes. x is at most
// about 0; a NaN stays.
HWY_INLINE Vector weight_of(Vector x) {
  const Floats d;
  const Mask none = hn::Lt(x, hn::Set(d, -87.0f));
  return hn::IfThenZeroElse(none, exp(d, hn::IfThenZeroElse(none, x)));
}

HWY_INLINE void clear(float* row, Index begin, Index end) {
  for (Index c = begin; c < end; ++c) row[c] = 0;
}

HWY_INLINE Index padded(Index columns) { return (columns + kAttentionLanes - 1) / kAttentionLanes * kAttentionLanes; }

HWY_INLINE float softmax_row(const AttentionRows& t, Index r, float* HWY_RESTRICT row) {
  const Floats d;
  const Index n = lanes();
  const Span span = span_of(t, r);
  Vector largest = hn::Set(d, kMinusInfinity);
  Mask nan = hn::FirstN(d, 0);
  for (Index c = span.first; c < span.last; c += n) {
    const Vector score = final_score(t, r, span, c, scaled_and_capped(t, hn::LoadU(d, row + c)));
    largest = hn::Max(largest, score);  // which may lose a NaN
    nan = hn::Or(nan, hn::IsNaN(score));
    hn::StoreU(score, d, row + c);
  }
  const float highest = hn::GetLane(hn::MaxOfLanes(d, largest));
  const bool spoilt = !hn::AllFalse(d, nan) || highest == -kMinusInfinity;
  const bool dead = !spoilt && highest == kMinusInfinity;
  const float top = spoilt ? std::numeric_limits<float>::quiet_NaN() : std::max(highest, t.sink);
  // A dead row has nothing but -inf, which must not be subtracted from itself.
  const Vector shift = hn::Set(d, dead ? 0.0f : top);
  Vector sums = hn::Zero(d);
  for (Index c = span.first; c < span.last; c += n) {
    const Vector score = hn::LoadU(d, row + c);
    // A NaN in the row is in `shift`: what is refused stays zero beside it.
    const Vector weight = hn::IfThenZeroElse(is_refused(score), weight_of(hn::Sub(score, shift)));
    sums = hn::Add(sums, weight);
    hn::StoreU(weight, d, row + c);
  }
  clear(row, 0, span.first);
  clear(row, span.last, padded(t.columns));
  if (dead) return kMinusInfinity;  // every weight is already zero
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  if (t.sink != kMinusInfinity) sum += std::exp(t.sink - top);
  const Vector inverse = hn::Set(d, 1.0f / sum);
  for (Index c = span.first; c < span.last; c += n) {
    const Vector weight = hn::LoadU(d, row + c);
    // Zero stays zero, so that a NaN does not spread to what the mask refused.
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(weight, hn::Zero(d)), hn::Mul(weight, inverse)), d, row + c);
  }
  return std::isnan(sum) ? sum : top + std::log(sum);
}

void softmax_rows_kernel(const AttentionRows& t, float* tile, float* stat) {
  for (Index r = 0; r < t.rows; ++r) {
    const float value = softmax_row(t, r, tile + r * t.stride);
    if (stat != nullptr) stat[r] = value;
  }
}

void score_rows_kernel(const AttentionRows& t, float* tile) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r)
    for (Index c = 0; c < t.columns; c += lanes()) {
      float* at = tile + r * t.stride + c;
      hn::StoreU(scaled_and_capped(t, hn::LoadU(d, at)), d, at);
    }
}

// keep ? x * keep_scale : 0.
HWY_INLINE Vector dropped(const AttentionRows& t, const std::uint16_t* bits, Vector x) {
  const Floats d;
  const hn::Rebind<std::uint16_t, Floats> d16;
  const hn::Rebind<std::int32_t, Floats> d32;
  const auto drawn = hn::PromoteTo(d32, hn::LoadU(d16, bits));
  const auto drop = hn::Lt(drawn, hn::Set(d32, static_cast<std::int32_t>(t.threshold)));
  return hn::IfThenZeroElse(hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(d32, drop))),
                            hn::Mul(x, hn::Set(d, t.keep_scale)));
}

void drop_rows_kernel(const AttentionRows& t, float* tile) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r)
    for (Index c = 0; c < padded(t.columns); c += lanes()) {
      const Index at = r * t.stride + c;
      hn::StoreU(dropped(t, t.bits + at, hn::LoadU(d, tile + at)), d, tile + at);
    }
}

void softmax_backward_rows_kernel(const AttentionRows& t, const float* stat, const float* delta,
                                  float* HWY_RESTRICT tile, float* HWY_RESTRICT dweights, float* HWY_RESTRICT dbias) {
  const Floats d;
  const Index n = lanes();
  for (Index r = 0; r < t.rows; ++r) {
    float *row = tile + r * t.stride, *drow = dweights + r * t.stride;
    const Span span = span_of(t, r);
    const Vector shift = hn::Set(d, stat[r]), mean = hn::Set(d, delta[r]);
    for (Index c = span.first; c < span.last; c += n) {
      const Vector after_cap = scaled_and_capped(t, hn::LoadU(d, row + c));
      const Vector score = final_score(t, r, span, c, after_cap);
      const Mask refused = is_refused(score);
      const Vector weight = hn::IfThenZeroElse(refused, weight_of(hn::Sub(score, shift)));
      Vector flow = hn::LoadU(d, drow + c), kept = weight;
      if (t.bits != nullptr) {
        flow = dropped(t, t.bits + r * t.stride + c, flow);
        kept = dropped(t, t.bits + r * t.stride + c, weight);
      }
      Vector gradient = hn::IfThenZeroElse(refused, hn::Mul(weight, hn::Sub(flow, mean)));
      if (dbias != nullptr) hn::StoreU(gradient, d, dbias + r * t.stride + c);
      if (t.cap != 0) {
        const Vector bent = hn::Div(after_cap, hn::Set(d, t.cap));
        gradient = hn::IfThenZeroElse(refused, hn::Mul(gradient, hn::NegMulAdd(bent, bent, hn::Set(d, 1.0f))));
      }
      hn::StoreU(kept, d, row + c);
      hn::StoreU(hn::Mul(gradient, hn::Set(d, t.scale)), d, drow + c);
    }
    for (float* x : {row, drow, dbias == nullptr ? row : dbias + r * t.stride}) {
      clear(x, 0, span.first);
      clear(x, span.last, padded(t.columns));
    }
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

HWY_EXPORT(softmax_rows_kernel);
HWY_EXPORT(score_rows_kernel);
HWY_EXPORT(drop_rows_kernel);
HWY_EXPORT(softmax_backward_rows_kernel);
HWY_EXPORT(row_dots_kernel);
HWY_EXPORT(any_nan_kernel);
HWY_EXPORT(dropout_bits_kernel);

void attention_softmax_rows(const AttentionRows& rows, float* tile, float* stat) {
  HEED_DISPATCH(softmax_rows_kernel)(rows, tile, stat);
}

void attention_score_rows(const AttentionRows& rows, float* tile) { HEED_DISPATCH(score_rows_kernel)(rows, tile); }

void attention_drop_rows(const AttentionRows& rows, float* tile) { HEED_DISPATCH(drop_rows_kernel)(rows, tile); }

void attention_softmax_backward_rows(const AttentionRows& rows, const float* stat, const float* delta, float* tile,
                                     float* dweights, float* dbias) {
  HEED_DISPATCH(softmax_backward_rows_kernel)(rows, stat, delta, tile, dweights, dbias);
}

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
