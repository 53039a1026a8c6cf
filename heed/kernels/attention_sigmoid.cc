// The sigmoid: each weight by itself.
#include "heed/kernels/attention_normaliser.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_sigmoid.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct SigmoidShape {
  // Zero below -87: no weight is subnormal, which would cost a hundred cycles wherever it goes.
  static HWY_INLINE Vector weight(Vector score, Vector) {
    const Floats d;
    return hn::IfThenZeroElse(hn::Lt(score, hn::Set(d, -87.0f)), sigmoid(d, score));
  }
  static HWY_INLINE Vector share(Vector, Vector, Vector weight) {
    return hn::Mul(weight, hn::Sub(hn::Set(Floats(), 1.0f), weight));
  }
};

void sigmoid_weights(const AttentionRows& t, float* tile, float* stat) {
  const Floats d;
  for (Index r = 0; r < t.rows; ++r) {
    float* row = tile + r * t.stride;
    const Span span = span_of(t, r);
    Mask any = hn::FirstN(d, 0);
    for (Index c = span.first; c < span.last; c += lanes()) {
      const Vector score = final_score(t, r, span, c, scaled_and_capped(t, hn::LoadU(d, row + c)));
      const Mask refused = is_refused(score);
      any = hn::Or(any, hn::Not(refused));
      hn::StoreU(hn::IfThenZeroElse(refused, SigmoidShape::weight(score, score)), d, row + c);
    }
    clear_beside(t, span, row);
    stat[r] = hn::AllFalse(d, any) ? kMinusInfinity : 0.0f;
  }
}

void sigmoid_gradients(const AttentionRows& t, const float* stat, const float* delta, float* tile, float* dweights,
                       float* dbias) {
  gradient_rows<SigmoidShape>(t, stat, delta, tile, dweights, dbias);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(sigmoid_weights);
HEED_EXPORT(sigmoid_gradients);

const AttentionNormaliser kSigmoid{.weights =
                                       [](const AttentionRows& rows, float* tile, float* stat) {
                                         HEED_DISPATCH(sigmoid_weights)
                                         (rows, tile, stat);
                                       },
                                   .pool = nullptr,
                                   .delta = [](const RowPool&, float) { return 0.0f; },
                                   .flows_as_output = false,
                                   .gradients =
                                       [](const AttentionRows& rows, const float* stat, const float* delta, float* tile,
                                          float* dweights, float* dbias) {
                                         HEED_DISPATCH(sigmoid_gradients)
                                         (rows, stat, delta, tile, dweights, dbias);
                                       }};

}  // namespace heed::kernels
#endif
