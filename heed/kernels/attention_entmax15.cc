// Entmax with alpha = 1.5: max(s / 2 - stat, 0)^2, summing to one (Peters et al. 2019). The threshold is where the norm
// of the roots of the weights, which falls and is convex, meets one. Newton's steps from below never pass it and end
// quadratically; no row is sorted. The bound on the number of steps is sparsemax's; mostly there are five.
#include <cmath>

#include "heed/kernels/attention_normaliser.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_entmax15.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_pooled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct Entmax15Shape {
  static HWY_INLINE float statistic(float top, float beyond) { return top / 2 + beyond; }
  static HWY_INLINE Vector below(Vector score, Vector top) {
    return hn::Mul(hn::Sub(score, top), hn::Set(Floats(), 0.5f));
  }
  static HWY_INLINE Vector root(Vector score, Vector stat) {
    return positive(hn::MulSub(score, hn::Set(Floats(), 0.5f), stat));
  }
  static HWY_INLINE Vector weight(Vector score, Vector stat) {
    const Vector x = root(score, stat);
    return hn::Mul(x, x);
  }
  static HWY_INLINE Vector share(Vector score, Vector stat, Vector) { return root(score, stat); }
  static HWY_INLINE Vector weight_above(Vector x) {
    const Vector above = positive(x);
    return hn::Mul(above, above);
  }

  static HWY_INLINE float threshold(const Span& span, const float* HWY_RESTRICT row, float top) {
    constexpr float kLastStep = 0x1p-20f;  // behind it lies less than a rounding
    constexpr int kMostSteps = 40;         // the bound, of the longest row
    const Floats d;
    const Vector highest = hn::Set(d, top);
    float tau = -1;
    for (int step = 0; step < kMostSteps; ++step) {
      const Vector at = hn::Set(d, tau);
      const auto [sum, square] = sums_over(span, [&](Index c, Vector& sums, Vector& squares) HWY_ATTR {
        const Vector above = hn::Max(hn::Sub(below(hn::LoadU(d, row + c), highest), at), hn::Zero(d));
        sums = hn::Add(sums, above);
        squares = hn::MulAdd(above, above, squares);
      });
      const float norm = std::sqrt(square);
      const float further = (norm - 1) * norm / sum;
      tau += further;
      if (further <= kLastStep) break;
    }
    return tau;
  }
};

void entmax15_weights(const AttentionRows& t, float* tile, float* stat) {
  pooled_weights<Entmax15Shape>(t, tile, stat);
}

void entmax15_pool(const AttentionRows& t, const float* stat, const float* tile, const float* dweights, RowPool* pool) {
  pool_rows<Entmax15Shape>(t, stat, tile, dweights, pool);
}

void entmax15_gradients(const AttentionRows& t, const float* stat, const float* delta, float* tile, float* dweights,
                        float* dbias) {
  gradient_rows<Entmax15Shape>(t, stat, delta, tile, dweights, dbias);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(entmax15_weights);
HEED_EXPORT(entmax15_pool);
HEED_EXPORT(entmax15_gradients);

const AttentionNormaliser kEntmax15{
    .weights =
        [](const AttentionRows& rows, float* tile, float* stat) {
          HEED_DISPATCH(entmax15_weights)
          (rows, tile, stat);
        },
    .pool =
        [](const AttentionRows& rows, const float* stat, const float* tile, const float* dweights, RowPool* pool) {
          HEED_DISPATCH(entmax15_pool)
          (rows, stat, tile, dweights, pool);
        },
    // A change of the threshold changes a weight by twice its root.
    .delta =
        [](const RowPool& pool, float dstat) {
          return pool.size == 0 ? 0.0f : static_cast<float>((pool.flow - dstat / 2) / pool.size);
        },
    .flows_as_output = false,
    .gradients =
        [](const AttentionRows& rows, const float* stat, const float* delta, float* tile, float* dweights,
           float* dbias) {
          HEED_DISPATCH(entmax15_gradients)
          (rows, stat, delta, tile, dweights, dbias);
        }};

}  // namespace heed::kernels
#endif
