#include "heed/ops/normalise.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/kernels/normalise.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

// Rows whose parameter gradients are added up in order before the sums of the blocks are, in order too.

// The kernels' functions in double, as plain loops: a call with float operands finds the kernel.
void normalise_rows(const kernels::NormaliseRows<double>& t) {
  for (Index r = 0; r < t.rows; ++r) {
    const double* x = t.x + r * t.width;
    double mean = 0, variance = 0;
    if (t.centred) {
      for (Index j = 0; j < t.width; ++j) mean += x[j];
      mean /= static_cast<double>(t.width);
    }
    for (Index j = 0; j < t.width; ++j) variance += (x[j] - mean) * (x[j] - mean);
    const double rstd = 1 / std::sqrt(variance / static_cast<double>(t.width) + t.eps);
    if (t.mean != nullptr) t.mean[r] = mean;
    if (t.rstd != nullptr) t.rstd[r] = rstd;
    for (Index j = 0; j < t.width; ++j) {
      const double scaled = (x[j] - mean) * rstd * (t.gamma != nullptr ? t.gamma[j] : 1);
      t.y[r * t.width + j] = scaled + (t.beta != nullptr ? t.beta[j] : 0);
    }
  }
}

void normalise_rows_backward(const kernels::NormaliseRowsBackward<double>& t) {
  for (Index r = 0; r < t.rows; ++r) {
    const double mean = t.mean != nullptr ? t.mean[r] : 0, rstd = t.rstd[r];
    const auto normalised = [&](Index j) { return (t.x[r * t.width + j] - mean) * rstd; };
    const auto upstream = [&](Index j) { return t.dy[r * t.width + j] * (t.gamma != nullptr ? t.gamma[j] : 1); };
    double mean_g = 0, mean_gx = 0;
    for (Index j = 0; j < t.width; ++j) {
      if (t.dgamma != nullptr) t.dgamma[j] += t.dy[r * t.width + j] * normalised(j);
      if (t.dbeta != nullptr) t.dbeta[j] += t.dy[r * t.width + j];
      mean_g += t.centred ? upstream(j) : 0;
      mean_gx += upstream(j) * normalised(j);
    }
    mean_g /= static_cast<double>(t.width);
    mean_gx /= static_cast<double>(t.width);
    if (t.dx == nullptr) continue;
    for (Index j = 0; j < t.width; ++j) {
      t.dx[r * t.width + j] = rstd * (upstream(j) - mean_g - normalised(j) * mean_gx);
    }
  }
}

template <typename T>
T* row_of(T* data, Index offset) {
  return data != nullptr ? data + offset : nullptr;
}

template <typename T>
void run_forward(ConstView x, ConstView gamma, ConstView beta, double eps, View y, View mean, View rstd, bool centred) {
  const Rows rows = rows_of(x);
  parallel_for(rows.count, rows_per_task(rows.width), [&](Index begin, Index end) {
    const Index at = begin * rows.width;
    normalise_rows(kernels::NormaliseRows<T>{x.as<T>() + at, gamma.as<T>(), beta.as<T>(), y.as<T>() + at,
                                             row_of(mean.as<T>(), begin), row_of(rstd.as<T>(), begin), end - begin,
                                             rows.width, eps, centred});
  });
}

template <typename T>
void run_backward(ConstView x, ConstView gamma, ConstView mean, ConstView rstd, ConstView dy, View dx, View dgamma,
                  View dbeta, bool centred) {
  const Rows rows = rows_of(x);
  const Index blocks = ceil_div(rows.count, kRowsPerSum);
  const Tensor gammas = dgamma ? Tensor::zeros(x.dtype, {blocks, rows.width}) : Tensor();
  const Tensor betas = dbeta ? Tensor::zeros(x.dtype, {blocks, rows.width}) : Tensor();
  parallel_for(rows.count, kRowsPerSum, [&](Index begin, Index end) {
    const Index at = begin * rows.width, block = begin / kRowsPerSum * rows.width;
    normalise_rows_backward(kernels::NormaliseRowsBackward<T>{
        x.as<T>() + at, gamma.as<T>(), row_of(mean.as<T>(), begin), rstd.as<T>() + begin, dy.as<T>() + at,
        row_of(dx.as<T>(), at), row_of(gammas.data<T>(), block), row_of(betas.data<T>(), block), end - begin,
        rows.width, centred});
  });
  if (dgamma && blocks > 0) sum_rows_to(gammas, dgamma);
  if (dbeta && blocks > 0) sum_rows_to(betas, dbeta);
}

void check_eps(std::string_view function, const Rows& rows, double eps) {
  HEED_CHECK(eps >= 0, "{}: eps must not be negative, but is {}", function, eps);
  HEED_CHECK(rows.width > 0, "{}: a row must have at least one element", function);
}

void check_statistic(std::string_view function, std::string_view name, const ConstView& statistic, DType dtype,
                     Index count) {
  HEED_CHECK(!statistic.empty(), "{}: needs the forward pass's {}, but it is empty", function, name);
  check_vector(function, name, statistic, dtype, count);
}

void forward(std::string_view function, ConstView x, ConstView gamma, ConstView beta, double eps, View y, View mean,
             View rstd, bool centred) {
  check_operands(function, {{"gamma", gamma, kOptional}, {"beta", beta, kOptional}},
                 {{"y", y}, {"mean", mean, kOptional}, {"rstd", rstd, kOptional}}, {{"x", x}});
  const Rows rows = check_rows(function, {x, y});
  check_eps(function, rows, eps);
  check_vector(function, "gamma", gamma, x.dtype, rows.width);
  check_vector(function, "beta", beta, x.dtype, rows.width);
  check_vector(function, "mean", mean, x.dtype, rows.count);
  check_vector(function, "rstd", rstd, x.dtype, rows.count);
  if (x.dtype == DType::f32) return run_forward<float>(x, gamma, beta, eps, y, mean, rstd, centred);
  run_forward<double>(x, gamma, beta, eps, y, mean, rstd, centred);
}

void backward(std::string_view function, ConstView x, ConstView gamma, ConstView mean, ConstView rstd, ConstView dy,
              View dx, View dgamma, View dbeta, bool centred) {
  check_operands(function,
                 {{"x", x}, {"gamma", gamma, kOptional}, {"mean", mean, kOptional}, {"rstd", rstd, kOptional}},
                 {{"dx", dx, kOptional}, {"dgamma", dgamma, kOptional}, {"dbeta", dbeta, kOptional}}, {{"dy", dy}});
  const Rows rows = dx ? check_rows(function, {x, dy, dx}) : check_rows(function, {x, dy});
  check_eps(function, rows, 0);
  check_vector(function, "gamma", gamma, x.dtype, rows.width);
  if (centred) check_statistic(function, "mean", mean, x.dtype, rows.count);
  check_statistic(function, "rstd", rstd, x.dtype, rows.count);
  check_vector(function, "dgamma", dgamma, x.dtype, rows.width);
  check_vector(function, "dbeta", dbeta, x.dtype, rows.width);
  if (x.dtype == DType::f32) return run_backward<float>(x, gamma, mean, rstd, dy, dx, dgamma, dbeta, centred);
  run_backward<double>(x, gamma, mean, rstd, dy, dx, dgamma, dbeta, centred);
}

}  // namespace

void layer_norm(ConstView x, ConstView gamma, ConstView beta, double eps, View y, View mean, View rstd) {
  forward("layer_norm", x, gamma, beta, eps, y, mean, rstd, true);
}

void layer_norm_backward(ConstView x, ConstView gamma, ConstView mean, ConstView rstd, ConstView dy, View dx,
                         View dgamma, View dbeta) {
  backward("layer_norm_backward", x, gamma, mean, rstd, dy, dx, dgamma, dbeta, true);
}

void rms_norm(ConstView x, ConstView gamma, double eps, View y, View rstd) {
  forward("rms_norm", x, gamma, ConstView(), eps, y, View(), rstd, false);
}

void rms_norm_backward(ConstView x, ConstView gamma, ConstView rstd, ConstView dy, View dx, View dgamma) {
  backward("rms_norm_backward", x, gamma, ConstView(), rstd, dy, dx, dgamma, View(), false);
}

}  // namespace heed
