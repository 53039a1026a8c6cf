#include "heed/ops/elementwise.h"

#include <algorithm>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

// y_i = f(a_i, b_i), where `kernel` is f on f32 arrays.
template <typename Kernel, typename F>
void combine(std::string_view function, ConstView a, ConstView b, View y, Kernel&& kernel, F&& f) {
  check_operands(function, {}, {{"y", y}}, {{"a", a}, {"b", b}});
  const Index size = check_rows(function, {a, b, y}).size();
  parallel_for(size, kElementsPerTask, [&](Index begin, Index end) {
    if (a.dtype == DType::f32) {
      return kernel(a.as<float>() + begin, b.as<float>() + begin, y.as<float>() + begin,
                    static_cast<std::size_t>(end - begin));
    }
    for (Index i = begin; i < end; ++i) f(a.as<double>()[i], b.as<double>()[i], y.as<double>()[i]);
  });
}

void add_values(const float* a, const float* b, float* y, Index n) { kernels::add(a, b, y, n); }
void add_values(const double* a, const double* b, double* y, Index n) {
  for (Index i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

template <typename T>
void add_row_to_each(const T* x, const T* row, T* y, Rows rows) {
  parallel_for(rows.count, rows_per_task(rows.width), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) add_values(x + r * rows.width, row, y + r * rows.width, rows.width);
  });
}

template <typename T>
void sum_rows(const T* x, T* sum, Rows rows) {
  parallel_for(rows.width, kColumnsPerTask, [&](Index begin, Index end) {
    T block[kColumnsPerTask];
    const Index columns = end - begin;
    for (Index first = 0; first < rows.count; first += kRowsPerSum) {
      const Index last = std::min(rows.count, first + kRowsPerSum);
      std::fill_n(block, columns, T{0});
      for (Index r = first; r < last; ++r) add_values(block, x + r * rows.width + begin, block, columns);
      add_values(sum + begin, block, sum + begin, columns);
    }
  });
}

// x as rows as wide as the vector `row`.
Rows check_broadcast(std::string_view function, ConstView x, ConstView row) {
  const bool floating = x.dtype == DType::f32 || x.dtype == DType::f64;
  HEED_CHECK(!x.empty() && !row.empty() && floating && x.dtype == row.dtype && x.contiguous() && row.contiguous() &&
                 row.size() > 0 && x.size() % row.size() == 0,
             "{}: needs contiguous f32 or f64 views, the first a whole number of times the second, but got {} and {}",
             function, describe(x), describe(row));
  return {x.size() / row.size(), row.size()};
}

// Copies the rows of two views of one shape.
void copy_rows(const ConstView& from, const View& to) {
  const Rows rows = rows_of(from);
  const Index item = size_of(from.dtype);
  // Where row r begins, in bytes.
  const auto offset = [&](const ConstView& view, Index r) {
    Index sum = 0;
    for (int axis = view.rank - 2; axis >= 0; --axis) {
      sum += (r % view.shape[axis]) * view.stride[axis];
      r /= view.shape[axis];
    }
    return sum * item;
  };
  parallel_for(rows.count, rows_per_task(rows.width), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      std::memcpy(to.as<char>() + offset(to, r), from.as<char>() + offset(from, r), rows.width * item);
    }
  });
}

// Checks that `part` can be the columns [column, column + width) of `whole`, and returns the end of those columns.
Index check_part(std::string_view function, const ConstView& part, const ConstView& whole, Index column) {
  const int last = whole.rank - 1;
  bool fits =
      !part.empty() && !whole.empty() && whole.rank >= 1 && part.rank == whole.rank && part.dtype == whole.dtype;
  for (int axis = 0; fits && axis < last; ++axis) fits = part.shape[axis] == whole.shape[axis];
  fits = fits && (part.stride[last] == 1 || part.shape[last] <= 1) &&
         (whole.stride[last] == 1 || whole.shape[last] <= 1) && column + part.shape[last] <= whole.shape[last];
  HEED_CHECK(fits, "{}: part {} does not fit {} at column {} (same type, same extents but the last, last stride 1)",
             function, describe(part), describe(whole), column);
  return column + part.shape[last];
}

void check_complete(std::string_view function, const ConstView& whole, Index columns) {
  HEED_CHECK(columns == rows_of(whole).width, "{}: the parts have {} columns, but {} has {}", function, columns,
             describe(whole), rows_of(whole).width);
}

}  // namespace

void add(ConstView a, ConstView b, View y) {
  combine("add", a, b, y, kernels::add, [](double p, double q, double& out) { out = p + q; });
}

void subtract(ConstView a, ConstView b, View y) {
  combine("subtract", a, b, y, kernels::subtract, [](double p, double q, double& out) { out = p - q; });
}

void multiply(ConstView a, ConstView b, View y) {
  combine("multiply", a, b, y, kernels::multiply, [](double p, double q, double& out) { out = p * q; });
}

void scale(ConstView x, double s, View y) {
  combine(
      "scale", x, x, y,
      [s](const float* from, const float*, float* to, std::size_t n) {
        kernels::scale(from, static_cast<float>(s), to, n);
      },
      [s](double p, double, double& out) { out = s * p; });
}

void add_to(ConstView x, View y) {
  combine("add_to", x, y, y, kernels::add, [](double p, double q, double& out) { out = p + q; });
}

void add_scaled_to(ConstView x, double s, View y) {
  combine(
      "add_scaled_to", x, y, y,
      [s](const float* from, const float*, float* to, std::size_t n) {
        kernels::add_scaled(from, static_cast<float>(s), to, n);
      },
      [s](double p, double q, double& out) { out = q + s * p; });
}

void add_product_to(ConstView a, ConstView b, View y) {
  combine("add_product_to", a, b, y, kernels::add_product, [](double p, double q, double& out) { out += p * q; });
}

void add_row(ConstView x, ConstView row, View y) {
  check_operands("add_row", {{"row", row}}, {{"y", y}}, {{"x", x}});
  check_rows("add_row", {x, y});
  const Rows rows = check_broadcast("add_row", x, row);
  if (x.dtype == DType::f32) return add_row_to_each(x.as<float>(), row.as<float>(), y.as<float>(), rows);
  add_row_to_each(x.as<double>(), row.as<double>(), y.as<double>(), rows);
}

void sum_rows_to(ConstView x, View sum) {
  check_operands("sum_rows_to", {{"x", x}}, {{"sum", sum}});
  const Rows rows = check_broadcast("sum_rows_to", x, sum);
  if (x.dtype == DType::f32) return sum_rows(x.as<float>(), sum.as<float>(), rows);
  sum_rows(x.as<double>(), sum.as<double>(), rows);
}

void concat(std::span<const ConstView> parts, View y) {
  check_written("concat", {"y", y});
  Index column = 0;
  for (const ConstView& part : parts) {
    check_operand("concat", {"a part", part});
    check_apart("concat", {"y", y}, {"a part", part});
    column = check_part("concat", part, y, column);
  }
  check_complete("concat", y, column);
  column = 0;
  for (const ConstView& part : parts) {
    const Index end = column + rows_of(part).width;
    copy_rows(part, slice(y, y.rank - 1, column, end));
    column = end;
  }
}

void split(ConstView x, std::span<const View> parts) {
  check_operand("split", {"x", x});
  Index column = 0;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const Operand part{"a part", parts[at]};
    check_written("split", part);
    check_apart("split", part, {"x", x});
    for (const View& before : parts.first(at)) check_apart("split", part, {"another", before});
    column = check_part("split", parts[at], x, column);
  }
  check_complete("split", x, column);
  column = 0;
  for (const View& part : parts) {
    const Index end = column + rows_of(part).width;
    copy_rows(slice(x, x.rank - 1, column, end), part);
    column = end;
  }
}

}  // namespace heed
