#include "heed/kernels/machine_limits.h"

#include <array>
#include <cstddef>
#include <utility>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/machine_limits.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// A latency of 4 on two to four units; sets of instructions with 16 registers leave room for 12 chains.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM
constexpr std::size_t kChains = 16;
#else
constexpr std::size_t kChains = 12;
#endif
constexpr std::size_t kReads = 8;  // sums at a time

// A vector of a number that the compiler cannot know, so that it neither folds a chain nor takes two for one.
HWY_INLINE Vector unknown(float number) {
  const volatile float kept = number;
  return hn::Set(Floats(), kept);
}

template <std::size_t... I>
HWY_INLINE Index multiply_adds_in(Index steps, std::index_sequence<I...>) {
  const Floats d;
  std::array<Vector, sizeof...(I)> chains{(static_cast<void>(I), unknown(0))...};
  const Vector one = unknown(1), also_one = unknown(1);
  for (Index step = 0; step < steps; ++step) {
    ((chains[I] = hn::MulAdd(chains[I], one, also_one)), ...);
  }
  // Lane by lane: each sum is exact, but all of them together may be more than a float holds.
  double total = 0;
  HWY_ALIGN float lanes[hn::MaxLanes(Floats())];
  for (const Vector& chain : chains) {
    hn::Store(chain, d, lanes);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) total += lanes[i];
  }
  return static_cast<Index>(total);
}

Index multiply_adds_kernel(Index steps) { return multiply_adds_in(steps, std::make_index_sequence<kChains>()); }

struct Exp {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_or_zero(d, x);
  }
};

void exp_kernel(const float* x, float* y, Index n) { transform(static_cast<std::size_t>(n), y, Exp(), x); }

template <std::size_t... I>
HWY_INLINE float sum_in(const float* x, std::size_t n, std::index_sequence<I...>) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), step = sizeof...(I) * lanes;
  std::array<Vector, sizeof...(I)> sums{(static_cast<void>(I), hn::Zero(d))...};
  std::size_t i = 0;
  for (; i + step <= n; i += step) ((sums[I] = hn::Add(sums[I], hn::LoadU(d, x + i + I * lanes))), ...);
  for (; i < n; i += lanes) sums[0] = hn::Add(sums[0], load_some(d, x + i, n - i));
  Vector total = hn::Zero(d);
  for (const Vector& sum : sums) total = hn::Add(total, sum);
  return hn::GetLane(hn::SumOfLanes(d, total));
}

float sum_kernel(const float* x, Index n) {
  return sum_in(x, static_cast<std::size_t>(n), std::make_index_sequence<kReads>());
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(multiply_adds_kernel);
HEED_EXPORT(exp_kernel);
HEED_EXPORT(sum_kernel);

Index multiply_adds(Index steps) { return HEED_DISPATCH(multiply_adds_kernel)(steps); }
void exp_each(const float* x, float* y, Index n) { HEED_DISPATCH(exp_kernel)(x, y, n); }
float sum_of(const float* x, Index n) { return HEED_DISPATCH(sum_kernel)(x, n); }

}  // namespace heed::kernels
#endif
