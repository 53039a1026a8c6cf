// Loops over f32 arrays of any length, a vector at a time. The last, partial vector goes through a small buffer and the
// same arithmetic, so that an element has the same bits wherever it lies.
#if defined(HEED_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_LANES_INL_H_
#undef HEED_KERNELS_LANES_INL_H_
#else
#define HEED_KERNELS_LANES_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The first min(count, lanes) elements at p; the other lanes are zero. Nothing beyond them is read.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::VFromD<D> load_some(D d, const T* p, std::size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::LoadU(d, p);
  HWY_ALIGN T buffer[hn::MaxLanes(D())] = {};
  std::memcpy(buffer, p, count * sizeof(T));
  return hn::Load(d, buffer);
}

// Stores the first min(count, lanes) lanes.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(hn::VFromD<D> v, D d, T* p, std::size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::StoreU(v, d, p);
  HWY_ALIGN T buffer[hn::MaxLanes(D())];
  hn::Store(v, d, buffer);
  std::memcpy(p, buffer, count * sizeof(T));
}

// y_i = f(d, in_i...) for i < n. y may be one of the inputs.
template <class F, class... In>
HWY_INLINE void transform(std::size_t n, float* y, const F& f, const In*... in) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, in + i)...), d, y + i);
  if (i < n) store_some(f(d, load_some(d, in + i, n - i)...), d, y + i, n - i);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
