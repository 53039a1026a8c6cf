#include "heed/kernels/elementwise.h"

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/elementwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Sum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Difference {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct Product {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct Scaled {
  float s;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, s));
  }
};

struct PlusScaled {
  float s;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    return hn::MulAdd(x, hn::Set(d, s), y);
  }
};

struct PlusProduct {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b, V y) const {
    return hn::MulAdd(a, b, y);
  }
};

void Add(const float* a, const float* b, float* y, std::size_t n) { transform(n, y, Sum(), a, b); }
void Subtract(const float* a, const float* b, float* y, std::size_t n) { transform(n, y, Difference(), a, b); }
void Multiply(const float* a, const float* b, float* y, std::size_t n) { transform(n, y, Product(), a, b); }
void Scale(const float* x, float s, float* y, std::size_t n) { transform(n, y, Scaled{s}, x); }
void AddScaled(const float* x, float s, float* y, std::size_t n) { transform(n, y, PlusScaled{s}, x, y); }
void AddProduct(const float* a, const float* b, float* y, std::size_t n) { transform(n, y, PlusProduct(), a, b, y); }

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(Add);
HEED_EXPORT(Subtract);
HEED_EXPORT(Multiply);
HEED_EXPORT(Scale);
HEED_EXPORT(AddScaled);
HEED_EXPORT(AddProduct);

void add(const float* a, const float* b, float* y, std::size_t n) { HEED_DISPATCH(Add)(a, b, y, n); }

void subtract(const float* a, const float* b, float* y, std::size_t n) { HEED_DISPATCH(Subtract)(a, b, y, n); }

void multiply(const float* a, const float* b, float* y, std::size_t n) { HEED_DISPATCH(Multiply)(a, b, y, n); }

void scale(const float* x, float s, float* y, std::size_t n) { HEED_DISPATCH(Scale)(x, s, y, n); }

void add_scaled(const float* x, float s, float* y, std::size_t n) { HEED_DISPATCH(AddScaled)(x, s, y, n); }

void add_product(const float* a, const float* b, float* y, std::size_t n) { HEED_DISPATCH(AddProduct)(a, b, y, n); }

}  // namespace heed::kernels
#endif
