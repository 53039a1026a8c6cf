#include "heed/kernels/normalise.h"

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/normalise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include <cmath>

#include "heed/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes32 = hn::ScalableTag<float>;

// Lanes from `count` on set to zero.
template <class V>
HWY_INLINE V keep_first(Lanes32 d, V v, std::size_t count) {
  return count >= hn::Lanes(d) ? v : hn::IfThenElseZero(hn::FirstN(d, count), v);
}

// x - mean, squared, from x[i] on.
struct SquaredDeviation {
  const float* x;
  float mean;
  HWY_INLINE auto operator()(std::size_t i, std::size_t count) const {
    const Lanes32 d;
    const auto deviation = keep_first(d, hn::Sub(load_some(d, x + i, count), hn::Set(d, mean)), count);
    return hn::Mul(deviation, deviation);
  }
};

struct Values {
  const float* x;
  HWY_INLINE auto operator()(std::size_t i, std::size_t count) const { return load_some(Lanes32(), x + i, count); }
};

// The gradient with respect to the normalised row, g = gamma dy.
struct Upstream {
  const float* dy;
  const float* gamma;
  HWY_INLINE auto operator()(std::size_t i, std::size_t count) const {
    const Lanes32 d;
    const auto v = load_some(d, dy + i, count);
    return gamma == nullptr ? v : hn::Mul(v, load_some(d, gamma + i, count));
  }
};

// The normalised row, (x - mean) rstd.
struct Normalised {
  const float* x;
  float mean, rstd;
  HWY_INLINE auto operator()(std::size_t i, std::size_t count) const {
    const Lanes32 d;
    return hn::Mul(hn::Sub(load_some(d, x + i, count), hn::Set(d, mean)), hn::Set(d, rstd));
  }
};

struct UpstreamTimesNormalised {
  Upstream upstream;
  Normalised normalised;
  HWY_INLINE auto operator()(std::size_t i, std::size_t count) const {
    // Beyond the row, the upstream gradient is zero.
    return hn::Mul(upstream(i, count), normalised(i, count));
  }
};

void NormaliseRowsOf(const NormaliseRows<float>& t) {
  const Lanes32 d;
  const std::size_t lanes = hn::Lanes(d), width = static_cast<std::size_t>(t.width);
  const float inverse_width = 1.0f / static_cast<float>(t.width);
  for (Index r = 0; r < t.rows; ++r) {
    const float* x = t.x + r * t.width;
    float* y = t.y + r * t.width;
    const float mean = t.centred ? sum_over(d, width, Values{x}) * inverse_width : 0.0f;
    const float variance = sum_over(d, width, SquaredDeviation{x, mean}) * inverse_width;
    const float rstd = 1.0f / std::sqrt(variance + static_cast<float>(t.eps));
    if (t.mean != nullptr) t.mean[r] = mean;
    if (t.rstd != nullptr) t.rstd[r] = rstd;
    const Normalised normalised{x, mean, rstd};
    for (std::size_t i = 0; i < width; i += lanes) {
      const std::size_t left = width - i;
      auto value = normalised(i, left);
      if (t.gamma != nullptr) value = hn::Mul(value, load_some(d, t.gamma + i, left));
      if (t.beta != nullptr) value = hn::Add(value, load_some(d, t.beta + i, left));
      store_some(value, d, y + i, left);
    }
  }
}

void NormaliseRowsBackwardOf(const NormaliseRowsBackward<float>& t) {
  const Lanes32 d;
  const std::size_t lanes = hn::Lanes(d), width = static_cast<std::size_t>(t.width);
  const float inverse_width = 1.0f / static_cast<float>(t.width);
  for (Index r = 0; r < t.rows; ++r) {
    const float* dy = t.dy + r * t.width;
    const float rstd = t.rstd[r];
    const Normalised normalised{t.x + r * t.width, t.mean != nullptr ? t.mean[r] : 0.0f, rstd};
    const Upstream upstream{dy, t.gamma};
    if (t.dgamma != nullptr || t.dbeta != nullptr) {
      for (std::size_t i = 0; i < width; i += lanes) {
        const std::size_t left = width - i;
        const auto v = load_some(d, dy + i, left);
        if (t.dgamma != nullptr) {
          store_some(hn::MulAdd(v, normalised(i, left), load_some(d, t.dgamma + i, left)), d, t.dgamma + i, left);
        }
        if (t.dbeta != nullptr) store_some(hn::Add(v, load_some(d, t.dbeta + i, left)), d, t.dbeta + i, left);
      }
    }
    if (t.dx == nullptr) continue;
    const float mean_g = t.centred ? sum_over(d, width, upstream) * inverse_width : 0.0f;
    const float mean_gx = sum_over(d, width, UpstreamTimesNormalised{upstream, normalised}) * inverse_width;
    float* dx = t.dx + r * t.width;
    for (std::size_t i = 0; i < width; i += lanes) {
      const std::size_t left = width - i;
      const auto g = hn::Sub(upstream(i, left), hn::Set(d, mean_g));
      const auto value = hn::NegMulAdd(normalised(i, left), hn::Set(d, mean_gx), g);
      store_some(hn::Mul(value, hn::Set(d, rstd)), d, dx + i, left);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(NormaliseRowsOf);
HEED_EXPORT(NormaliseRowsBackwardOf);

void normalise_rows(const NormaliseRows<float>& operands) { HEED_DISPATCH(NormaliseRowsOf)(operands); }

void normalise_rows_backward(const NormaliseRowsBackward<float>& operands) {
  HEED_DISPATCH(NormaliseRowsBackwardOf)(operands);
}

}  // namespace heed::kernels
#endif
