// Sparsemax: max(s - stat, 0), summing to one (Martins & Astudillo 2016). The threshold is where the falling, convex,
// piecewise linear sum of the weights meets one. Newton's steps from below never pass it, and end at it once a step
// leaves the keys above as they were; no row is sorted. With n keys there are at most about 12 + log2(n) steps, since
// each takes the product of what is too much and of the slope to a quarter or less; mostly there are four.
#include "heed/kernels/attention_normaliser.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_sparsemax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_pooled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct SparsemaxShape {
  static HWY_INLINE float statistic(float top, float beyond) { return top + beyond; }
  // A score's distance to the largest one, in the units of the threshold.
  static HWY_INLINE Vector below(Vector score, Vector top) { return hn::Sub(score, top); }
  static HWY_INLINE Vector weight(Vector score, Vector stat) { return weight_above(hn::Sub(score, stat)); }
  static HWY_INLINE Vector weight_above(Vector x) { return positive(x); }
  // One for a key that has weight; a NaN stays.
  static HWY_INLINE Vector share(Vector, Vector, Vector weight) {
    const Floats d;
    return hn::IfThenElse(hn::Gt(weight, hn::Zero(d)), hn::Set(d, 1.0f), weight);
  }

  // The threshold for the scores of a span, which are at most 0 from `top` on.
  static HWY_INLINE float threshold(const Span& span, const float* HWY_RESTRICT row, float top) {
    const Floats d;
    const Vector highest = hn::Set(d, top), one = hn::Set(d, 1.0f);
    float tau = -1, before = 0;
    for (;;) {
      const Vector at = hn::Set(d, tau);
      const auto [sum, count] = sums_over(span, [&](Index c, Vector& sums, Vector& counts) HWY_ATTR {
        const Vector x = hn::Sub(hn::Sub(hn::LoadU(d, row + c), highest), at);
        const Mask above = hn::Gt(x, hn::Zero(d));
        sums = hn::Add(sums, hn::IfThenElseZero(above, x));
        counts = hn::Add(counts, hn::IfThenElseZero(above, one));
      });
      const float next = tau + (sum - 1) / count;
      // The same keys as before: their threshold is found, and this was the correction of its rounding.
      if (count == before) return next;
      if (!(next > tau)) return tau;
      tau = next, before = count;
    }
  }
};

void sparsemax_weights(const AttentionRows& t, float* tile, float* stat) {
  pooled_weights<SparsemaxShape>(t, tile, stat);
}

void sparsemax_pool(const AttentionRows& t, const float* stat, const float* tile, const float* dweights,
                    RowPool* pool) {
  pool_rows<SparsemaxShape>(t, stat, tile, dweights, pool);
}

void sparsemax_gradients(const AttentionRows& t, const float* stat, const float* delta, float* tile, float* dweights,
                         float* dbias) {
  gradient_rows<SparsemaxShape>(t, stat, delta, tile, dweights, dbias);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(sparsemax_weights);
HEED_EXPORT(sparsemax_pool);
HEED_EXPORT(sparsemax_gradients);

const AttentionNormaliser kSparsemax{
    .weights =
        [](const AttentionRows& rows, float* tile, float* stat) {
          HEED_DISPATCH(sparsemax_weights)
          (rows, tile, stat);
        },
    .pool =
        [](const AttentionRows& rows, const float* stat, const float* tile, const float* dweights, RowPool* pool) {
          HEED_DISPATCH(sparsemax_pool)
          (rows, stat, tile, dweights, pool);
        },
    .delta = [](const RowPool& pool,
                float dstat) { return pool.size == 0 ? 0.0f : static_cast<float>((pool.flow - dstat) / pool.size); },
    .flows_as_output = false,
    .gradients =
        [](const AttentionRows& rows, const float* stat, const float* delta, float* tile, float* dweights,
           float* dbias) {
          HEED_DISPATCH(sparsemax_gradients)
          (rows, stat, delta, tile, dweights, dbias);
        }};

}  // namespace heed::kernels
#endif
