#include "heed/kernels/adam.h"

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/adam.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Adam(const AdamStep& step, const float* gradient, float* m, float* v, float* x, Index count) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  const auto run = [&](auto d, Index i) {
    const auto g = hn::Mul(hn::Set(d, step.gradient_scale), hn::LoadU(d, gradient + i));
    const auto m1 = hn::MulAdd(hn::Set(d, step.beta1), hn::LoadU(d, m + i), hn::Mul(hn::Set(d, 1 - step.beta1), g));
    const auto v1 =
        hn::MulAdd(hn::Set(d, step.beta2), hn::LoadU(d, v + i), hn::Mul(hn::Set(d, 1 - step.beta2), hn::Mul(g, g)));
    hn::StoreU(m1, d, m + i);
    hn::StoreU(v1, d, v + i);
    const auto change = hn::Div(hn::Mul(hn::Set(d, step.rate), m1), hn::Add(hn::Sqrt(v1), hn::Set(d, step.epsilon)));
    hn::StoreU(hn::Sub(hn::LoadU(d, x + i), change), d, x + i);
  };
  const Index lanes = static_cast<Index>(hn::Lanes(wide));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) run(wide, i);
  for (; i < count; ++i) run(one, i);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(Adam);

void adam_f32(const AdamStep& step, const float* gradient, float* m, float* v, float* x, Index count) {
  HEED_DISPATCH(Adam)(step, gradient, m, v, x, count);
}

}  // namespace heed::kernels
#endif
