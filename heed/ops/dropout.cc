#include "heed/ops/dropout.h"

#include <cmath>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/dropout.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

static_assert(kElementsPerTask % 8 == 0, "a task begins with a Philox block");

void drop(const double* x, const double* residual, double p, DropoutKey key, Index begin, Index end, double* y) {
  const double scale = dropout_scale(p);
  for (Index i = begin; i < end; ++i) {
    const double value = dropout_keeps(p, key, i) ? x[i] * scale : 0;
    y[i] = residual != nullptr ? residual[i] + value : value;
  }
}

void drop(const ConstView& x, double p, DropoutKey key, const ConstView& residual, const View& y, Index size) {
  const kernels::DropoutRule rule{key.seed, key.stream, dropout_threshold(p), static_cast<float>(dropout_scale(p))};
  parallel_for(size, kElementsPerTask, [&](Index begin, Index end) {
    if (x.dtype == DType::f64) {
      return drop(x.as<double>(), residual.as<double>(), p, key, begin, end, y.as<double>());
    }
    const float* added = residual ? residual.as<float>() + begin : nullptr;
    kernels::dropout(rule, begin, x.as<float>() + begin, added, y.as<float>() + begin, end - begin);
  });
}

}  // namespace

std::uint32_t dropout_threshold(double p) {
  HEED_CHECK(p >= 0 && p <= 1, "dropout: the probability must be from 0 to 1, but is {}", p);
  return static_cast<std::uint32_t>(std::lround(p * 65536));
}

double dropout_scale(double p) {
  const std::uint32_t threshold = dropout_threshold(p);
  return threshold == 65536 ? 0 : 65536.0 / (65536 - threshold);
}

bool dropout_keeps(double p, DropoutKey key, Index index) {
  const PhiloxBlock block = philox(key.seed, key.stream, static_cast<std::uint64_t>(index) / 8);
  const std::uint32_t bits = (block[(index % 8) / 2] >> (16 * (index % 2))) & 0xFFFF;
  return bits >= dropout_threshold(p);
}

void dropout(ConstView x, double p, DropoutKey key, View y) {
  check_operands("dropout", {}, {{"y", y}}, {{"x", x}});
  const Index size = check_rows("dropout", {x, y}).size();
  drop(x, p, key, ConstView(), y, size);
}

void dropout_add(ConstView x, double p, DropoutKey key, ConstView residual, View y) {
  check_operands("dropout_add", {}, {{"y", y}}, {{"x", x}, {"residual", residual}});
  const Index size = check_rows("dropout_add", {x, residual, y}).size();
  drop(x, p, key, residual, y, size);
}

}  // namespace heed
