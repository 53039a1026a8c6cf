// What the passes over the rows of a score tile share, on any Highway target: from products to scores, and the gradient
// of a normaliser, of which each normaliser gives two functions of one weight. Included once per target, as Highway's
// own -inl headers are.
#if defined(HEED_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_ROWS_INL_H_
#undef HEED_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "heed/kernels/attention_rows.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  return {begin, end, begin / n * n, round_up(end, n)};
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

HWY_INLINE void clear(float* row, Index begin, Index end) {
  for (Index c = begin; c < end; ++c) row[c] = 0;
}

HWY_INLINE Index padded(Index columns) { return round_up(columns, kAttentionLanes); }

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

// What a row's scores have in them.
struct RowScores {
  float highest;
  bool spoilt;  // a NaN or +inf
  bool dead;    // nothing is allowed
};

// Replaces the products of a row's span by final scores.
HWY_INLINE RowScores read_scores(const AttentionRows& t, Index r, const Span& span, float* HWY_RESTRICT row) {
  const Floats d;
  Vector largest = hn::Set(d, kMinusInfinity);
  Mask nan = hn::FirstN(d, 0);
  for (Index c = span.first; c < span.last; c += lanes()) {
    const Vector score = final_score(t, r, span, c, scaled_and_capped(t, hn::LoadU(d, row + c)));
    largest = hn::Max(largest, score);  // which may lose a NaN
    nan = hn::Or(nan, hn::IsNaN(score));
    hn::StoreU(score, d, row + c);
  }
  const float highest = hn::GetLane(hn::MaxOfLanes(d, largest));
  const bool spoilt = !hn::AllFalse(d, nan) || highest == -kMinusInfinity;
  return {highest, spoilt, !spoilt && highest == kMinusInfinity};
}

// Sets what a tile's row has beside its span to zero.
HWY_INLINE void clear_beside(const AttentionRows& t, const Span& span, float* row) {
  clear(row, 0, span.first);
  clear(row, span.last, padded(t.columns));
}

// AttentionNormaliser::gradients. Shape has weight(score, stat) and share(score, stat, weight), of a key
// that is there.
template <class Shape>
HWY_INLINE void gradient_rows(const AttentionRows& t, const float* stat, const float* delta, float* HWY_RESTRICT tile,
                              float* HWY_RESTRICT dweights, float* HWY_RESTRICT dbias) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r) {
    float *row = tile + r * t.stride, *drow = dweights + r * t.stride;
    const Span span = span_of(t, r);
    const Vector whole = hn::Set(d, stat[r]), mean = hn::Set(d, delta[r]);
    for (Index c = span.first; c < span.last; c += lanes()) {
      const Vector after_cap = scaled_and_capped(t, hn::LoadU(d, row + c));
      const Vector score = final_score(t, r, span, c, after_cap);
      const Mask refused = is_refused(score);
      const Vector weight = hn::IfThenZeroElse(refused, Shape::weight(score, whole));
      Vector flow = hn::LoadU(d, drow + c), kept = weight;
      if (t.bits != nullptr) {
        flow = dropped(t, t.bits + r * t.stride + c, flow);
        kept = dropped(t, t.bits + r * t.stride + c, weight);
      }
      Vector gradient = hn::IfThenZeroElse(refused, hn::Mul(Shape::share(score, whole, weight), hn::Sub(flow, mean)));
      if (dbias != nullptr) hn::StoreU(gradient, d, dbias + r * t.stride + c);
      if (t.cap != 0) {
        const Vector bent = hn::Div(after_cap, hn::Set(d, t.cap));
        gradient = hn::IfThenZeroElse(refused, hn::Mul(gradient, hn::NegMulAdd(bent, bent, hn::Set(d, 1.0f))));
      }
      hn::StoreU(kept, d, row + c);
      hn::StoreU(hn::Mul(gradient, hn::Set(d, t.scale)), d, drow + c);
    }
    clear_beside(t, span, row);
    clear_beside(t, span, drow);
    if (dbias != nullptr) clear_beside(t, span, dbias + r * t.stride);
  }
}

// Calls add(share, share * kept dweight) on the vectors of row r, in order: what AttentionNormaliser::pool sums.
template <class Shape, class Add>
HWY_INLINE void for_each_share(const AttentionRows& t, Index r, float stat, const float* tile, const float* dweights,
                               const Add& add) {
  const Floats d;
  const Span span = span_of(t, r);
  for (Index c = span.first; c < span.last; c += lanes()) {
    const Index at = r * t.stride + c;
    const Vector score = final_score(t, r, span, c, scaled_and_capped(t, hn::LoadU(d, tile + at)));
    const Mask refused = is_refused(score);
    const Vector whole = hn::Set(d, stat);
    const Vector share = hn::IfThenZeroElse(refused, Shape::share(score, whole, Shape::weight(score, whole)));
    Vector flow = hn::LoadU(d, dweights + at);
    if (t.bits != nullptr) flow = dropped(t, t.bits + at, flow);
    add(share, hn::IfThenZeroElse(refused, hn::Mul(share, flow)));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
