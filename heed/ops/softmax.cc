#include "heed/ops/softmax.h"

#include <algorithm>
#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/softmax.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

// Calls single(offset) or exact(offset) for the first element of every row, as the type asks.
template <typename Single, typename Exact>
void for_each_row(const Rows& rows, DType dtype, const Single& single, const Exact& exact) {
  if (rows.width == 0) return;
  parallel_for(rows.count, rows_per_task(rows.width), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      if (dtype == DType::f32) {
        single(r * rows.width);
      } else {
        exact(r * rows.width);
      }
    }
  });
}

double log_sum_exp(const double* x, Index n) {
  const double largest = *std::max_element(x, x + n);
  double sum = 0;
  for (Index j = 0; j < n; ++j) sum += std::exp(x[j] - largest);
  return largest + std::log(sum);
}

}  // namespace

void softmax(ConstView x, View y) {
  check_operands("softmax", {}, {{"y", y}}, {{"x", x}});
  const Rows rows = check_rows("softmax", {x, y});
  const Index n = rows.width;
  for_each_row(
      rows, x.dtype, [&](Index at) { kernels::softmax_row(x.as<float>() + at, y.as<float>() + at, n); },
      [&](Index at) {
        const double* from = x.as<double>() + at;
        const double log_sum = log_sum_exp(from, n);
        for (Index j = 0; j < n; ++j) y.as<double>()[at + j] = std::exp(from[j] - log_sum);
      });
}

void softmax_backward(ConstView y, ConstView dy, View dx) {
  check_operands("softmax_backward", {{"y", y}}, {{"dx", dx}}, {{"dy", dy}});
  const Rows rows = check_rows("softmax_backward", {y, dy, dx});
  const Index n = rows.width;
  for_each_row(
      rows, y.dtype,
      [&](Index at) { kernels::softmax_backward_row(y.as<float>() + at, dy.as<float>() + at, dx.as<float>() + at, n); },
      [&](Index at) {
        const double *p = y.as<double>() + at, *g = dy.as<double>() + at;
        double dot = 0;
        for (Index j = 0; j < n; ++j) dot += p[j] * g[j];
        for (Index j = 0; j < n; ++j) dx.as<double>()[at + j] = p[j] * (g[j] - dot);
      });
}

void log_softmax(ConstView x, View y) {
  check_operands("log_softmax", {}, {{"y", y}}, {{"x", x}});
  const Rows rows = check_rows("log_softmax", {x, y});
  const Index n = rows.width;
  for_each_row(
      rows, x.dtype, [&](Index at) { kernels::log_softmax_row(x.as<float>() + at, y.as<float>() + at, n); },
      [&](Index at) {
        const double* from = x.as<double>() + at;
        const double log_sum = log_sum_exp(from, n);
        for (Index j = 0; j < n; ++j) y.as<double>()[at + j] = from[j] - log_sum;
      });
}

void log_softmax_backward(ConstView y, ConstView dy, View dx) {
  check_operands("log_softmax_backward", {{"y", y}}, {{"dx", dx}}, {{"dy", dy}});
  const Rows rows = check_rows("log_softmax_backward", {y, dy, dx});
  const Index n = rows.width;
  for_each_row(
      rows, y.dtype,
      [&](Index at) {
        kernels::log_softmax_backward_row(y.as<float>() + at, dy.as<float>() + at, dx.as<float>() + at, n);
      },
      [&](Index at) {
        const double *log_p = y.as<double>() + at, *g = dy.as<double>() + at;
        double total = 0;
        for (Index j = 0; j < n; ++j) total += g[j];
        for (Index j = 0; j < n; ++j) dx.as<double>()[at + j] = g[j] - std::exp(log_p[j]) * total;
      });
}

}  // namespace heed
