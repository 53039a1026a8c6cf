#include "heed/kernels/feature_map.h"

#include <cmath>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/feature_map.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct EluPlusOne {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0f);
    V below = exp_or_zero(d, x);
    // The same numbers where they are not subnormal, in three quarters of the time.
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Lt(x, hn::Set(d, -87.0f))))) below = exp(d, x);
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Add(x, one), below);
  }
};

struct Relu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return at_least(d, x, 0.0f);
  }
};

// Above one, where x is above zero, the slope is one; below it is y.
struct EluPlusOneGradient {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::IfThenElse(hn::Gt(y, hn::Set(d, 1.0f)), dy, hn::Mul(dy, y));
  }
};

struct ReluGradient {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
  }
};

void EluPlusOneRows(Index rows, Index width, const float* x, Index x_row, float* y) {
  for (Index r = 0; r < rows; ++r)
    transform(static_cast<std::size_t>(width), y + r * width, EluPlusOne(), x + r * x_row);
}

void ReluRows(Index rows, Index width, const float* x, Index x_row, float* y) {
  for (Index r = 0; r < rows; ++r) transform(static_cast<std::size_t>(width), y + r * width, Relu(), x + r * x_row);
}

template <class Gradient>
HWY_INLINE void gradient_rows(Index rows, Index width, const float* y, const float* dy, float* dx, Index dx_row) {
  for (Index r = 0; r < rows; ++r) {
    transform(static_cast<std::size_t>(width), dx + r * dx_row, Gradient(), y + r * width, dy + r * width);
  }
}

void EluPlusOneGradientRows(Index rows, Index width, const float* y, const float* dy, float* dx, Index dx_row) {
  gradient_rows<EluPlusOneGradient>(rows, width, y, dy, dx, dx_row);
}

void ReluGradientRows(Index rows, Index width, const float* y, const float* dy, float* dx, Index dx_row) {
  gradient_rows<ReluGradient>(rows, width, y, dy, dx, dx_row);
}

using Doubles = hn::CappedTag<double, 8>;
using Narrow = hn::Rebind<float, Doubles>;

HWY_INLINE Index wide_lanes() { return static_cast<Index>(hn::Lanes(Doubles())); }

HWY_INLINE double square_of(const float* x, Index width) {
  const Doubles d;
  return sum_over(d, static_cast<std::size_t>(width), [&](std::size_t at, std::size_t present) HWY_ATTR {
    const auto part = hn::PromoteTo(d, load_some(Narrow(), x + at, present));
    return hn::Mul(part, part);
  });
}

// exp(exponent) factor: of the exponent as a float, and what that leaves of it to first order, where it is a number.
template <class V>
HWY_INLINE hn::Vec<Narrow> exp_of_double(V exponent, float factor) {
  const Narrow narrow;
  const auto near = hn::DemoteTo(narrow, exponent), factors = hn::Set(narrow, factor);
  const auto rest = hn::DemoteTo(narrow, hn::Sub(exponent, hn::PromoteTo(Doubles(), near)));
  const auto known = hn::IfThenElseZero(hn::Eq(rest, rest), rest);
  return hn::Mul(exp(narrow, near), hn::MulAdd(factors, known, factors));
}

// The features of kVectors vectors from `first` on.
template <int kVectors>
HWY_INLINE void random_features(const RandomProjection& p, const float* HWY_RESTRICT x, double half_square, Index first,
                                float* HWY_RESTRICT y) {
  const Doubles d;
  const Index n = wide_lanes();
  hn::Vec<Doubles> sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (Index i = 0; i < p.width; ++i) {
    const auto input = hn::Set(d, double{x[i]});
    for (int v = 0; v < kVectors; ++v) {
      const Index at = first + v * n;
      const auto row = load_some(d, p.by_input + i * p.features + at, static_cast<std::size_t>(p.features - at));
      sums[v] = hn::MulAdd(input, row, sums[v]);
    }
  }
  const float factor = 1 / std::sqrt(static_cast<float>(p.features));
  for (int v = 0; v < kVectors; ++v) {
    const Index at = first + v * n;
    const auto exponent = hn::MulSub(hn::Set(d, p.root_scale), sums[v], hn::Set(d, half_square));
    store_some(exp_of_double(exponent, factor), Narrow(), y + at, static_cast<std::size_t>(p.features - at));
  }
}

void PositiveRandomRows(const RandomProjection& p, Index rows, const float* x, Index x_row, float* y) {
  for (Index r = 0; r < rows; ++r) {
    const float* row = x + r * x_row;
    const double half_square = p.root_scale * p.root_scale * square_of(row, p.width) / 2;
    Index m = 0;
    for (; m + 4 * wide_lanes() <= p.features; m += 4 * wide_lanes()) {
      random_features<4>(p, row, half_square, m, y + r * p.features);
    }
    for (; m < p.features; m += wide_lanes()) random_features<1>(p, row, half_square, m, y + r * p.features);
  }
}

void PositiveRandomFlowRows(Index rows, Index features, const float* y, float* dy, float* sums) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    const float* row = y + r * features;
    float* flow = dy + r * features;
    sums[r] = sum_over(d, static_cast<std::size_t>(features), [&](std::size_t at, std::size_t present) HWY_ATTR {
      const Vector product = hn::Mul(load_some(d, row + at, present), load_some(d, flow + at, present));
      store_some(product, d, flow + at, present);
      return product;
    });
  }
}

struct RandomGradient {
  float root_scale, sum;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dx) const {
    return hn::Mul(hn::Set(d, root_scale), hn::NegMulAdd(hn::Set(d, root_scale * sum), x, dx));
  }
};

void PositiveRandomGradientRows(Index rows, Index width, const float* x, Index x_row, const float* sums,
                                float root_scale, float* dx, Index dx_row) {
  for (Index r = 0; r < rows; ++r) {
    float* to = dx + r * dx_row;
    transform(static_cast<std::size_t>(width), to, RandomGradient{root_scale, sums[r]}, x + r * x_row, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(EluPlusOneRows);
HEED_EXPORT(ReluRows);
HEED_EXPORT(EluPlusOneGradientRows);
HEED_EXPORT(ReluGradientRows);
HEED_EXPORT(PositiveRandomRows);
HEED_EXPORT(PositiveRandomFlowRows);
HEED_EXPORT(PositiveRandomGradientRows);

void elu_plus_one_rows(Index rows, Index width, const float* x, Index x_row, float* y) {
  HEED_DISPATCH(EluPlusOneRows)(rows, width, x, x_row, y);
}

void relu_rows(Index rows, Index width, const float* x, Index x_row, float* y) {
  HEED_DISPATCH(ReluRows)(rows, width, x, x_row, y);
}

void elu_plus_one_gradient_rows(Index rows, Index width, const float* y, const float* dy, float* dx, Index dx_row) {
  HEED_DISPATCH(EluPlusOneGradientRows)(rows, width, y, dy, dx, dx_row);
}

void relu_gradient_rows(Index rows, Index width, const float* y, const float* dy, float* dx, Index dx_row) {
  HEED_DISPATCH(ReluGradientRows)(rows, width, y, dy, dx, dx_row);
}

void positive_random_rows(const RandomProjection& projection, Index rows, const float* x, Index x_row, float* y) {
  HEED_DISPATCH(PositiveRandomRows)(projection, rows, x, x_row, y);
}

void positive_random_flow_rows(Index rows, Index features, const float* y, float* dy, float* sums) {
  HEED_DISPATCH(PositiveRandomFlowRows)(rows, features, y, dy, sums);
}

void positive_random_gradient_rows(Index rows, Index width, const float* x, Index x_row, const float* sums,
                                   float root_scale, float* dx, Index dx_row) {
  HEED_DISPATCH(PositiveRandomGradientRows)(rows, width, x, x_row, sums, root_scale, dx, dx_row);
}

}  // namespace heed::kernels
#endif
