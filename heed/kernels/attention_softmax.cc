// Softmax: a pass for the largest score, one for the exponentials of the differences to it and their sum, and one that
// divides. The sums of a row are a partial one for each SIMD lane, added up in one order.
#include <cmath>

#include "heed/kernels/attention_normaliser.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct SoftmaxShape {
  static HWY_INLINE Vector weight(Vector score, Vector stat) { return softmax_weight(Floats(), hn::Sub(score, stat)); }
  static HWY_INLINE Vector share(Vector, Vector, Vector weight) { return weight; }
};

HWY_INLINE float softmax_row(const AttentionRows& t, Index r, float* HWY_RESTRICT row) {
  const Floats d;
  const Index n = lanes();
  const Span span = span_of(t, r);
  const RowScores scores = read_scores(t, r, span, row);
  const float top = scores.spoilt ? std::numeric_limits<float>::quiet_NaN() : std::max(scores.highest, t.sink);
  // A dead row has nothing but -inf, which must not be subtracted from itself.
  const Vector shift = hn::Set(d, scores.dead ? 0.0f : top);
  Vector sums = hn::Zero(d);
  for (Index c = span.first; c < span.last; c += n) {
    const Vector score = hn::LoadU(d, row + c);
    // A NaN in the row is in `shift`: what is refused stays zero beside it.
    const Vector weight = hn::IfThenZeroElse(is_refused(score), softmax_weight(Floats(), hn::Sub(score, shift)));
    sums = hn::Add(sums, weight);
    hn::StoreU(weight, d, row + c);
  }
  clear_beside(t, span, row);
  if (scores.dead) return kMinusInfinity;  // every weight is already zero
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

void softmax_weights(const AttentionRows& t, float* tile, float* stat) {
  for (Index r = 0; r < t.rows; ++r) stat[r] = softmax_row(t, r, tile + r * t.stride);
}

// Key after key in double: an output of 16 bits hides differences of delta and dweight that should vanish.
void softmax_pool(const AttentionRows& t, const float* stat, const float* tile, const float* dweights, RowPool* pool) {
  HWY_ALIGN float flows[kAttentionLanes];
  for (Index r = 0; r < t.rows; ++r) {
    double sum = pool[r].flow;
    for_each_share<SoftmaxShape>(t, r, stat[r], tile, dweights, [&](Vector, Vector flow) HWY_ATTR {
      hn::Store(flow, Floats(), flows);
      for (Index lane = 0; lane < lanes(); ++lane) sum += flows[lane];
    });
    pool[r].flow = sum;
  }
}

void softmax_gradients(const AttentionRows& t, const float* stat, const float* delta, float* tile, float* dweights,
                       float* dbias) {
  gradient_rows<SoftmaxShape>(t, stat, delta, tile, dweights, dbias);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(softmax_weights);
HEED_EXPORT(softmax_pool);
HEED_EXPORT(softmax_gradients);

const AttentionNormaliser kSoftmax{
    .weights =
        [](const AttentionRows& rows, float* tile, float* stat) {
          HEED_DISPATCH(softmax_weights)
          (rows, tile, stat);
        },
    .pool =
        [](const AttentionRows& rows, const float* stat, const float* tile, const float* dweights, RowPool* pool) {
          HEED_DISPATCH(softmax_pool)
          (rows, stat, tile, dweights, pool);
        },
    .delta = [](const RowPool& pool, float dstat) { return static_cast<float>(pool.flow) - dstat; },
    .flows_as_output = true,
    .gradients =
        [](const AttentionRows& rows, const float* stat, const float* delta, float* tile, float* dweights,
           float* dbias) {
          HEED_DISPATCH(softmax_gradients)
          (rows, stat, delta, tile, dweights, dbias);
        }};

}  // namespace heed::kernels
#endif
