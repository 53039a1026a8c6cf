// What the normalisers with a threshold share, whose keys give back a mean of their gradients: sparsemax and entmax.
// Included once per target, as Highway's own -inl headers are.
#if defined(HEED_KERNELS_ATTENTION_POOLED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_POOLED_INL_H_
#undef HEED_KERNELS_ATTENTION_POOLED_INL_H_
#else
#define HEED_KERNELS_ATTENTION_POOLED_INL_H_
#endif

#include "heed/kernels/attention_normaliser.h"
#include "heed/kernels/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// max(x, 0) that keeps a NaN.
HWY_INLINE Vector positive(Vector x) {
  const Floats d;
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
}

// Two sums over the vectors of a span, each of four partial ones in turn: one alone would wait for itself.
// term(c, first, second) adds what the vector of column c gives. The blocks of columns that a tile leaves out are four
// vectors or a multiple: to which of the four a key is added depends on that key and its row alone.
struct TwoSums {
  float first, second;
};
template <class Term>
HWY_INLINE TwoSums sums_over(const Span& span, const Term& term) {
  const Floats d;
  const Index n = lanes();
  Vector a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  Index c = span.first;
  for (; c + 4 * n <= span.last; c += 4 * n) {
    term(c, a0, b0);
    term(c + n, a1, b1);
    term(c + 2 * n, a2, b2);
    term(c + 3 * n, a3, b3);
  }
  if (c < span.last) term(c, a0, b0);
  if (c + n < span.last) term(c + n, a1, b1);
  if (c + 2 * n < span.last) term(c + 2 * n, a2, b2);
  return {hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)))),
          hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(b0, b1), hn::Add(b2, b3))))};
}

// AttentionNormaliser::weights. Shape has, beside what gradient_rows needs, below(score, top), of a score and the
// largest; threshold(span, row, top), of such differences; weight_above(x), of what is above the threshold; and
// statistic(top, threshold). The scores are compared with their largest, so that the weights sum to one however large
// the scores are.
template <class Shape>
HWY_INLINE void pooled_weights(const AttentionRows& t, float* tile, float* stat) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r) {
    float* HWY_RESTRICT row = tile + r * t.stride;
    const Span span = span_of(t, r);
    const RowScores scores = read_scores(t, r, span, row);
    float tau = std::numeric_limits<float>::quiet_NaN();  // which is every weight of a spoilt row
    if (!scores.spoilt && !scores.dead) tau = Shape::threshold(span, row, scores.highest);
    const Vector top = hn::Set(d, scores.highest), at = hn::Set(d, tau);
    for (Index c = span.first; c < span.last; c += lanes()) {
      const Vector score = hn::LoadU(d, row + c);
      const Vector weight = Shape::weight_above(hn::Sub(Shape::below(score, top), at));
      hn::StoreU(hn::IfThenZeroElse(is_refused(score), weight), d, row + c);
    }
    clear_beside(t, span, row);
    stat[r] = scores.dead ? kMinusInfinity : scores.spoilt ? tau : Shape::statistic(scores.highest, tau);
  }
}

// AttentionNormaliser::pool: a partial sum for each SIMD lane, added up in one order.
template <class Shape>
HWY_INLINE void pool_rows(const AttentionRows& t, const float* stat, const float* tile, const float* dweights,
                          RowPool* pool) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r) {
    Vector flows = hn::Zero(d), sizes = hn::Zero(d);
    for_each_share<Shape>(t, r, stat[r], tile, dweights, [&](Vector share, Vector flow) HWY_ATTR {
      flows = hn::Add(flows, flow);
      sizes = hn::Add(sizes, share);
    });
    pool[r].flow += hn::GetLane(hn::SumOfLanes(d, flows));
    pool[r].size += hn::GetLane(hn::SumOfLanes(d, sizes));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
