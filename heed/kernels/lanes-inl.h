// Loops over arrays of any length, a vector at a time. The last, partial vector goes through a mask, or a small buffer,
// and the same arithmetic, so that an element has the same bits wherever it lies.
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

// Whether masked loads and stores leave what lies past the mask alone, of numbers of any size.
#undef HEED_MASKS_ANY_SIZE
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define HEED_MASKS_ANY_SIZE 1
#else
#define HEED_MASKS_ANY_SIZE 0
#endif

// The first min(count, lanes) elements at p; the other lanes are zero. Nothing beyond them is read.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::VFromD<D> load_some(D d, const T* p, std::size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::LoadU(d, p);
#if HEED_MASKS_ANY_SIZE
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN T buffer[hn::MaxLanes(D())] = {};
  std::memcpy(buffer, p, count * sizeof(T));
  return hn::Load(d, buffer);
#endif
}

// Stores the first min(count, lanes) lanes.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(hn::VFromD<D> v, D d, T* p, std::size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::StoreU(v, d, p);
#if HEED_MASKS_ANY_SIZE
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN T buffer[hn::MaxLanes(D())];
  hn::Store(v, d, buffer);
  std::memcpy(p, buffer, count * sizeof(T));
#endif
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

// The sum over i < n, where term(i, count) is the vector of the terms from i on, zero in the lanes from `count` on. The
// order of the additions depends on n and the target alone.
template <class D, class F, class T = hn::TFromD<D>>
HWY_INLINE T sum_over(D d, std::size_t n, const F& term) {
  const std::size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    sum0 = hn::Add(sum0, term(i, lanes));
    sum1 = hn::Add(sum1, term(i + lanes, lanes));
    sum2 = hn::Add(sum2, term(i + 2 * lanes, lanes));
    sum3 = hn::Add(sum3, term(i + 3 * lanes, lanes));
  }
  for (; i < n; i += lanes) sum0 = hn::Add(sum0, term(i, n - i));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
