#include "heed/kernels/activation.h"

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/activation.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Each activation: operator()(d, x) is f(x), operator()(d, x, dy) is f'(x) dy. A NaN in x or dy gives a NaN, but for
// relu's zero side.
struct Identity {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
  template <class D, class V>
  HWY_INLINE V operator()(D, V, V dy) const {
    return dy;
  }
};

struct Relu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return at_least(d, x, 0.0f);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V zero = hn::Zero(d);
    // The inner choice is x itself only where x is a NaN.
    return hn::IfThenElse(hn::Le(x, zero), zero, hn::IfThenElse(hn::Gt(x, zero), dy, x));
  }
};

struct LeakyRelu {
  static constexpr float kSlope = 0.01f;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, kSlope)));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V zero = hn::Zero(d), below = hn::Mul(dy, hn::Set(d, kSlope));
    // The inner choice is x itself only where x is a NaN.
    return hn::IfThenElse(hn::Gt(x, zero), dy, hn::IfThenElse(hn::Le(x, zero), below, x));
  }
};

struct Relu6 {
  static constexpr float kMost = 6;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return at_most(d, at_least(d, x, 0.0f), kMost);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V zero = hn::Zero(d), most = hn::Set(d, kMost);
    const V flat = hn::IfThenElse(hn::Or(hn::Le(x, zero), hn::Ge(x, most)), zero, x);  // of the rest x only for a NaN
    return hn::IfThenElse(hn::And(hn::Gt(x, zero), hn::Lt(x, most)), dy, flat);
  }
};

struct Gelu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, normal(d, x).cdf);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const auto [cdf, density] = normal(d, x);
    return hn::Mul(dy, hn::MulAdd(x, density, cdf));
  }
};

// x / 2 (1 + tanh(u)) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3): the sigmoid does not cancel on the
// left.
struct GeluTanh {
  static constexpr float kLinear = 1.5957691216f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = 1.5957691216f * 0.044715f;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V slope = hn::MulAdd(hn::Mul(x, x), hn::Set(d, kCubic), hn::Set(d, kLinear));
    return hn::Mul(x, sigmoid(d, hn::Mul(x, slope)));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V square = hn::Mul(x, x);
    const V u = hn::Mul(x, hn::MulAdd(square, hn::Set(d, kCubic), hn::Set(d, kLinear)));
    const V slope = hn::MulAdd(square, hn::Set(d, 3 * kCubic), hn::Set(d, kLinear));
    const V s = sigmoid(d, u);
    const V inner = hn::Mul(hn::Mul(x, slope), hn::Sub(hn::Set(d, 1.0f), s));
    return hn::Mul(dy, hn::MulAdd(s, inner, s));
  }
};

struct GeluSigmoid {
  static constexpr float kSlope = 1.702f;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, sigmoid(d, hn::Mul(x, hn::Set(d, kSlope))));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V u = hn::Mul(x, hn::Set(d, kSlope)), s = sigmoid(d, u);
    return hn::Mul(dy, hn::MulAdd(s, hn::Mul(u, hn::Sub(hn::Set(d, 1.0f), s)), s));
  }
};

struct Silu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, sigmoid(d, x));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V s = sigmoid(d, x);
    return hn::Mul(dy, hn::MulAdd(s, hn::Mul(x, hn::Sub(hn::Set(d, 1.0f), s)), s));
  }
};

// tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1) = n / (n + 2) with n = e (e + 2), e = exp(x), which is 1 in f32
// long before n overflows.
struct Mish {
  template <class D, class V>
  static HWY_INLINE V weight(D d, V x) {
    const V two = hn::Set(d, 2.0f), e = exp(d, at_most(d, x, 20.0f)), n = hn::Mul(e, hn::Add(e, two));
    return hn::Div(n, hn::Add(n, two));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, weight(d, x));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V w = weight(d, x), falls = hn::NegMulAdd(w, w, hn::Set(d, 1.0f));
    return hn::Mul(dy, hn::MulAdd(hn::Mul(x, sigmoid(d, x)), falls, w));
  }
};

struct Tanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return tanh(d, x);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V y = tanh(d, x);
    return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1.0f)));
  }
};

struct Sigmoid {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return sigmoid(d, x);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V s = sigmoid(d, x);
    return hn::Mul(dy, hn::Mul(s, hn::Sub(hn::Set(d, 1.0f), s)));
  }
};

template <class... In>
void apply(Activation activation, std::size_t n, float* y, const In*... in) {
  switch (activation) {
    case Activation::identity:
      return transform(n, y, Identity(), in...);
    case Activation::relu:
      return transform(n, y, Relu(), in...);
    case Activation::leaky_relu:
      return transform(n, y, LeakyRelu(), in...);
    case Activation::relu6:
      return transform(n, y, Relu6(), in...);
    case Activation::gelu:
      return transform(n, y, Gelu(), in...);
    case Activation::gelu_tanh:
      return transform(n, y, GeluTanh(), in...);
    case Activation::gelu_sigmoid:
      return transform(n, y, GeluSigmoid(), in...);
    case Activation::silu:
      return transform(n, y, Silu(), in...);
    case Activation::mish:
      return transform(n, y, Mish(), in...);
    case Activation::tanh:
      return transform(n, y, Tanh(), in...);
    case Activation::sigmoid:
      return transform(n, y, Sigmoid(), in...);
  }
}

void Activate(Activation activation, const float* x, float* y, std::size_t n) { apply(activation, n, y, x); }
void ActivateBackward(Activation activation, const float* x, const float* dy, float* dx, std::size_t n) {
  apply(activation, n, dx, x, dy);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(Activate);
HEED_EXPORT(ActivateBackward);

void activate(Activation activation, const float* x, float* y, std::size_t n) {
  HEED_DISPATCH(Activate)(activation, x, y, n);
}

void activate_backward(Activation activation, const float* x, const float* dy, float* dx, std::size_t n) {
  HEED_DISPATCH(ActivateBackward)(activation, x, dy, dx, n);
}

}  // namespace heed::kernels
#endif
