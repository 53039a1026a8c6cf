#include "heed/kernels/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr Index kBlock = 16;
constexpr Index kVectors = kBlock / kLanes;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// 16 partial results.
struct Partials {
  explicit Partials(float value) {
    for (Vector& v : part) v = hn::Set(Floats(), value);
  }

  template <class F>
  float combine(const F& f) const {
    HWY_ALIGN float lane[kBlock];
    for (Index v = 0; v < kVectors; ++v) hn::Store(part[v], Floats(), lane + v * kLanes);
    for (Index half = kBlock / 2; half > 0; half /= 2)
      for (Index j = 0; j < half; ++j) lane[j] = f(lane[j], lane[j + half]);
    return lane[0];
  }
  float sum() const {
    return combine([](float a, float b) { return a + b; });
  }

  Vector part[kVectors];
};

// Calls f(block...) on pointers to 16 elements of each row; what is missing in the last block is `missing`.
template <class F, class... In>
HWY_INLINE void for_each_block(Index n, float missing, const F& f, const In*... in) {
  Index j = 0;
  for (; j + kBlock <= n; j += kBlock) f((in + j)...);
  if (j == n) return;
  const auto padded = [&](const float* from, float* buffer) -> const float* {
    std::fill(buffer, buffer + kBlock, missing);
    std::memcpy(buffer, from, static_cast<size_t>(n - j) * sizeof(float));
    return buffer;
  };
  HWY_ALIGN float buffers[sizeof...(In)][kBlock];
  size_t next = 0;
  const std::array<const float*, sizeof...(In)> blocks{padded(in + j, buffers[next++])...};
  std::apply(f, blocks);
}

float row_max(const float* x, Index n) {
  const Floats d;
  Partials largest(kMinusInfinity);
  for_each_block(
      n, kMinusInfinity,
      [&](const float* block) HWY_ATTR {
        for (Index v = 0; v < kVectors; ++v)
          largest.part[v] = hn::Max(largest.part[v], hn::LoadU(d, block + v * kLanes));
      },
      x);
  return largest.combine([](float a, float b) { return a > b ? a : b; });
}

// y = exp(x - largest), and its sum. A missing element is exp(-infinity) = 0.
float exponentials(const float* x, float* y, Index n, float largest) {
  const Floats d;
  const Vector top = hn::Set(d, largest);
  Partials sum(0.0f);
  Index j = 0;
  for (; j + kBlock <= n; j += kBlock) {
    for (Index v = 0; v < kVectors; ++v) {
      const Vector e = exp(d, hn::Sub(hn::LoadU(d, x + j + v * kLanes), top));
      hn::StoreU(e, d, y + j + v * kLanes);
      sum.part[v] = hn::Add(sum.part[v], e);
    }
  }
  if (j < n) {
    HWY_ALIGN float block[kBlock];
    std::fill(block, block + kBlock, kMinusInfinity);
    std::memcpy(block, x + j, static_cast<size_t>(n - j) * sizeof(float));
    for (Index v = 0; v < kVectors; ++v) {
      const Vector e = exp(d, hn::Sub(hn::Load(d, block + v * kLanes), top));
      hn::Store(e, d, block + v * kLanes);
      sum.part[v] = hn::Add(sum.part[v], e);
    }
    std::memcpy(y + j, block, static_cast<size_t>(n - j) * sizeof(float));
  }
  return sum.sum();
}

// sum exp(x - largest).
float sum_of_exponentials(const float* x, Index n, float largest) {
  const Floats d;
  const Vector top = hn::Set(d, largest);
  Partials sum(0.0f);
  for_each_block(
      n, kMinusInfinity,
      [&](const float* block) HWY_ATTR {
        for (Index v = 0; v < kVectors; ++v)
          sum.part[v] = hn::Add(sum.part[v], exp(d, hn::Sub(hn::LoadU(d, block + v * kLanes), top)));
      },
      x);
  return sum.sum();
}

// sum (x - largest).
float sum_of_differences(const float* x, Index n, float largest) {
  const Floats d;
  const Vector top = hn::Set(d, largest);
  Partials sum(0.0f);
  for_each_block(
      n, largest,
      [&](const float* block) HWY_ATTR {
        for (Index v = 0; v < kVectors; ++v)
          sum.part[v] = hn::Add(sum.part[v], hn::Sub(hn::LoadU(d, block + v * kLanes), top));
      },
      x);
  return sum.sum();
}

void softmax_kernel(const float* x, float* y, Index n) {
  const float sum = exponentials(x, y, n, row_max(x, n));
  const float inverse = 1.0f / sum;
  transform(
      static_cast<size_t>(n), y, [&](auto d, auto e) HWY_ATTR { return hn::Mul(e, hn::Set(d, inverse)); }, y);
}

void softmax_backward_kernel(const float* y, const float* dy, float* dx, Index n) {
  const Floats tag;
  Partials dot(0.0f);
  for_each_block(
      n, 0.0f,
      [&](const float* a, const float* b) HWY_ATTR {
        for (Index v = 0; v < kVectors; ++v)
          dot.part[v] = hn::MulAdd(hn::LoadU(tag, a + v * kLanes), hn::LoadU(tag, b + v * kLanes), dot.part[v]);
      },
      y, dy);
  const float mean = dot.sum();
  transform(
      static_cast<size_t>(n), dx,
      [&](auto d, auto p, auto g) HWY_ATTR { return hn::Mul(p, hn::Sub(g, hn::Set(d, mean))); }, y, dy);
}

void log_softmax_kernel(const float* x, float* y, Index n) {
  const float largest = row_max(x, n);
  const float log_sum = static_cast<float>(std::log(static_cast<double>(sum_of_exponentials(x, n, largest))));
  transform(
      static_cast<size_t>(n), y,
      [&](auto d, auto v) HWY_ATTR { return hn::Sub(hn::Sub(v, hn::Set(d, largest)), hn::Set(d, log_sum)); }, x);
}

void log_softmax_backward_kernel(const float* y, const float* dy, float* dx, Index n) {
  const float total = sum_of_differences(dy, n, 0.0f);
  transform(
      static_cast<size_t>(n), dx,
      [&](auto d, auto log_p, auto g) HWY_ATTR { return hn::NegMulAdd(exp(d, log_p), hn::Set(d, total), g); }, y, dy);
}

RowLoss cross_entropy_kernel(float* logits, Index n, Index target, double smoothing, double scale, bool gradient) {
  const float largest = row_max(logits, n), wanted = logits[target];
  RowLoss loss{};
  loss.correct = wanted == largest && std::find(logits, logits + target, largest) == logits + target;
  const double shifted = smoothing != 0 ? sum_of_differences(logits, n, largest) / static_cast<double>(n) : 0.0;
  const double sum = exponentials(logits, logits, n, largest);
  const double log_sum = std::log(sum);
  loss.nll = log_sum - (static_cast<double>(wanted) - static_cast<double>(largest));
  loss.mean_nll = smoothing != 0 ? log_sum - shifted : loss.nll;
  if (!gradient) return loss;
  const float factor = static_cast<float>(scale / sum);
  const float uniform = static_cast<float>(scale * smoothing / static_cast<double>(n));
  transform(
      static_cast<size_t>(n), logits,
      [&](auto d, auto e) HWY_ATTR { return hn::Sub(hn::Mul(e, hn::Set(d, factor)), hn::Set(d, uniform)); }, logits);
  logits[target] -= static_cast<float>(scale * (1 - smoothing));
  return loss;
}

void column_sums_kernel(const float* x, Index rows, Index stride, Index n, float* sums) {
  const Floats d;
  constexpr Index kWidth = 4 * kLanes;  // four chains hide the latency of an addition
  Index j = 0;
  for (; j + kWidth <= n; j += kWidth) {
    Vector s0 = hn::LoadU(d, sums + j), s1 = hn::LoadU(d, sums + j + kLanes);
    Vector s2 = hn::LoadU(d, sums + j + 2 * kLanes), s3 = hn::LoadU(d, sums + j + 3 * kLanes);
    for (Index r = 0; r < rows; ++r) {
      const float* row = x + r * stride + j;
      s0 = hn::Add(s0, hn::LoadU(d, row));
      s1 = hn::Add(s1, hn::LoadU(d, row + kLanes));
      s2 = hn::Add(s2, hn::LoadU(d, row + 2 * kLanes));
      s3 = hn::Add(s3, hn::LoadU(d, row + 3 * kLanes));
    }
    hn::StoreU(s0, d, sums + j);
    hn::StoreU(s1, d, sums + j + kLanes);
    hn::StoreU(s2, d, sums + j + 2 * kLanes);
    hn::StoreU(s3, d, sums + j + 3 * kLanes);
  }
  for (; j < n; ++j)
    for (Index r = 0; r < rows; ++r) sums[j] += x[r * stride + j];
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(softmax_kernel);
HEED_EXPORT(softmax_backward_kernel);
HEED_EXPORT(log_softmax_kernel);
HEED_EXPORT(log_softmax_backward_kernel);
HEED_EXPORT(cross_entropy_kernel);
HEED_EXPORT(column_sums_kernel);

void softmax_row(const float* x, float* y, Index n) { HEED_DISPATCH(softmax_kernel)(x, y, n); }
void softmax_backward_row(const float* y, const float* dy, float* dx, Index n) {
  HEED_DISPATCH(softmax_backward_kernel)(y, dy, dx, n);
}
void log_softmax_row(const float* x, float* y, Index n) { HEED_DISPATCH(log_softmax_kernel)(x, y, n); }
void log_softmax_backward_row(const float* y, const float* dy, float* dx, Index n) {
  HEED_DISPATCH(log_softmax_backward_kernel)(y, dy, dx, n);
}
RowLoss cross_entropy_row(float* logits, Index n, Index target, double smoothing, double scale, bool gradient) {
  return HEED_DISPATCH(cross_entropy_kernel)(logits, n, target, smoothing, scale, gradient);
}
void add_column_sums(const float* x, Index rows, Index stride, Index n, float* sums) {
  HEED_DISPATCH(column_sums_kernel)(x, rows, stride, n, sums);
}

}  // namespace heed::kernels
#endif
