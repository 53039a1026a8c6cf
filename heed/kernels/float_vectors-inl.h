// Vectors of floats on any Highway target, of sixteen lanes at most, and how the last ones of a row are read and
// written.
#if defined(HEED_KERNELS_FLOAT_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_FLOAT_VECTORS_INL_H_
#undef HEED_KERNELS_FLOAT_VECTORS_INL_H_
#else
#define HEED_KERNELS_FLOAT_VECTORS_INL_H_
#endif

#include <algorithm>

#include "heed/base/index.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums over a row depend on how many lanes there are.
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Floats()));

// Where registers are many, a wider tile has fewer loads for each step, and a longer one more chains for one vector.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool kManyRegisters = true;
#else
constexpr bool kManyRegisters = false;
#endif

// A masked load or store must not touch what lies past the mask; only these targets promise that.
#undef HEED_TRUE_MASKS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define HEED_TRUE_MASKS 1
#else
#define HEED_TRUE_MASKS 0
#endif

// The first `count` floats, and zeros for the rest; what lies beyond them is not read.
HWY_INLINE Vector load_first(const float* from, Index count) {
  const Floats d;
  if (count >= kLanes) return hn::LoadU(d, from);
#if HEED_TRUE_MASKS
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(std::max<Index>(count, 0))), d, from);
#else
  HWY_ALIGN float buffer[kLanes] = {};
  for (Index j = 0; j < count; ++j) buffer[j] = from[j];
  return hn::Load(d, buffer);
#endif
}

// The first `count` lanes; what lies beyond them is not written.
HWY_INLINE void store_first(Vector v, float* to, Index count) {
  const Floats d;
  if (count >= kLanes) return hn::StoreU(v, d, to);
#if HEED_TRUE_MASKS
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(std::max<Index>(count, 0))), d, to);
#else
  HWY_ALIGN float buffer[kLanes];
  hn::Store(v, d, buffer);
  for (Index j = 0; j < count; ++j) to[j] = buffer[j];
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
