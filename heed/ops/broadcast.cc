#include "heed/ops/broadcast.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

// The shape with leading extents of 1, so that it has kMaxRank axes.
Shape aligned(const ConstView& view) {
  Shape shape{1, 1, 1, 1};
  std::copy_n(view.shape.begin(), view.rank, shape.end() - view.rank);
  return shape;
}

void check_fit(std::string_view function, const ConstView& small, const ConstView& large) {
  const bool floating = small.dtype == DType::f32 || small.dtype == DType::f64;
  HEED_CHECK(
      floating && small.dtype == large.dtype && small.contiguous() && large.contiguous() && broadcasts_to(small, large),
      "{}: needs contiguous f32 or f64 views whose shapes fit, extent by extent from the last, but got {} and {}",
      function, describe(small), describe(large));
}

// Where y's element [i, j, k, .] has the first of its elements in x, and how many of them lie along each axis of x.
struct SumPlan {
  Shape x, y, repeats, x_stride;
  Index units() const { return y[0] * y[1] * y[2]; }
  bool last_is_kept() const { return y[3] == x[3]; }

  explicit SumPlan(const ConstView& large, const ConstView& small) : x(aligned(large)), y(aligned(small)) {
    Index stride = 1;
    for (int axis = kMaxRank - 1; axis >= 0; --axis) {
      repeats[axis] = y[axis] == x[axis] ? 1 : x[axis];
      x_stride[axis] = stride;
      stride *= x[axis];
    }
  }
  Index first(Index unit) const {
    const Index k = unit % y[2], j = unit / y[2] % y[1], i = unit / y[2] / y[1];
    return i * x_stride[0] + j * x_stride[1] + k * x_stride[2];
  }
  // Calls f(offset) for each row that is added up, from `begin` on.
  template <typename F>
  void for_each_row(Index begin, F&& f) const {
    for (Index i = 0; i < repeats[0]; ++i) {
      for (Index j = 0; j < repeats[1]; ++j) {
        for (Index k = 0; k < repeats[2]; ++k) f(begin + i * x_stride[0] + j * x_stride[1] + k * x_stride[2]);
      }
    }
  }
};

template <typename T>
void sum_columns(const SumPlan& plan, const T* x, Index unit, Index begin, Index end, T* y) {
  double sums[kColumnsPerTask] = {};
  plan.for_each_row(plan.first(unit), [&](Index row) {
    for (Index c = begin; c < end; ++c) sums[c - begin] += static_cast<double>(x[row + c]);
  });
  for (Index c = begin; c < end; ++c) y[unit * plan.y[3] + c] = static_cast<T>(sums[c - begin]);
}

template <typename T>
void sum_all(const SumPlan& plan, const T* x, Index unit, T* y) {
  double sum = 0;
  plan.for_each_row(plan.first(unit), [&](Index row) {
    for (Index c = 0; c < plan.x[3]; ++c) sum += static_cast<double>(x[row + c]);
  });
  y[unit] = static_cast<T>(sum);
}

template <typename T>
void sum_units(const SumPlan& plan, const T* x, T* y) {
  const Index blocks = plan.last_is_kept() ? ceil_div(plan.y[3], kColumnsPerTask) : 1;
  const Index tasks = plan.units() * blocks;
  if (tasks == 0) return;
  const Index read = std::max<Index>(1, plan.x[0] * plan.x[1] * plan.x[2] * plan.x[3] / tasks);
  parallel_for(tasks, rows_per_task(read), [&](Index first, Index last) {
    for (Index task = first; task < last; ++task) {
      const Index unit = task / blocks, begin = task % blocks * kColumnsPerTask;
      if (!plan.last_is_kept()) {
        sum_all(plan, x, unit, y);
      } else {
        sum_columns(plan, x, unit, begin, std::min(begin + kColumnsPerTask, plan.y[3]), y);
      }
    }
  });
}

}  // namespace

bool broadcasts_to(const ConstView& small, const ConstView& large) {
  if (small.rank > large.rank) return false;
  const Shape from = aligned(small), to = aligned(large);
  for (int axis = 0; axis < kMaxRank; ++axis) {
    if (from[axis] != to[axis] && from[axis] != 1) return false;
  }
  return true;
}

void broadcast(ConstView x, View y) {
  check_operands("broadcast", {{"x", x}}, {{"y", y}});
  check_fit("broadcast", x, y);
  ConstView repeated = y;
  repeated.data = x.data;
  for (int axis = 0; axis < y.rank; ++axis) {
    const int of_x = axis - (y.rank - x.rank);
    repeated.stride[axis] = of_x < 0 || x.shape[of_x] == 1 ? 0 : x.stride[of_x];
  }
  copy(repeated, y);
}

void sum_to_shape(ConstView x, View y) {
  check_operands("sum_to_shape", {{"x", x}}, {{"y", y}});
  check_fit("sum_to_shape", y, x);
  const SumPlan plan(x, y);
  if (x.dtype == DType::f32) return sum_units(plan, x.as<float>(), y.as<float>());
  sum_units(plan, x.as<double>(), y.as<double>());
}

}  // namespace heed
