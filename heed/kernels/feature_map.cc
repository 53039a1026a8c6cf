#include "heed/kernels/feature_map.h"

#include <cmath>

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/feature_map.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// The sums over a row depend on how many lanes there are: sixteen at most.
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

struct EluPlusOne {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0f);
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Add(x, one), exp(d, x));
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

// An exponent far from zero is rounded by more than a unit of the result: what its rounding left off is made good to
// first order, where it is a number.
struct RandomFeature {
  float root_scale, half_square, root_features_inverse;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V product) const {
    const V factor = hn::Set(d, root_scale), half = hn::Set(d, half_square),
            inverse = hn::Set(d, root_features_inverse);
    const V along = hn::Mul(factor, product), exponent = hn::Sub(along, half);
    const V part = hn::Add(exponent, half);  // of `along`; the exponent's error is what is left of it and of half
    const V lost = hn::Sub(hn::Sub(along, part), hn::Sub(half, hn::Sub(part, exponent)));
    const V rest = hn::Add(lost, hn::MulSub(factor, product, along));
    const V known = hn::IfThenElseZero(hn::Eq(rest, rest), rest);
    return hn::Mul(exp(d, exponent), hn::MulAdd(inverse, known, inverse));
  }
};

void PositiveRandomRows(Index rows, Index width, Index features, const float* x, Index x_row, float root_scale,
                        float* y) {
  const Floats d;
  const float inverse = 1 / std::sqrt(static_cast<float>(features));
  for (Index r = 0; r < rows; ++r) {
    const float* row = x + r * x_row;
    const float square =
        sum_over(d, static_cast<std::size_t>(width), [&](std::size_t at, std::size_t present) HWY_ATTR {
          const Vector part = load_some(d, row + at, present);
          return hn::Mul(part, part);
        });
    float* to = y + r * features;
    transform(static_cast<std::size_t>(features), to,
              RandomFeature{root_scale, root_scale * root_scale * square / 2, inverse}, to);
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

HWY_EXPORT(EluPlusOneRows);
HWY_EXPORT(ReluRows);
HWY_EXPORT(EluPlusOneGradientRows);
HWY_EXPORT(ReluGradientRows);
HWY_EXPORT(PositiveRandomRows);
HWY_EXPORT(PositiveRandomFlowRows);
HWY_EXPORT(PositiveRandomGradientRows);

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

void positive_random_rows(Index rows, Index width, Index features, const float* x, Index x_row, float root_scale,
                          float* y) {
  HEED_DISPATCH(PositiveRandomRows)(rows, width, features, x, x_row, root_scale, y);
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
