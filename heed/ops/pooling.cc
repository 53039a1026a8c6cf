#include "heed/ops/pooling.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

struct PoolingExtents {
  Index batch, length, width;
};

PoolingExtents check(std::string_view function, const ConstView& sequences, const ConstView& pooled) {
  const bool floating = sequences.dtype == DType::f32 || sequences.dtype == DType::f64;
  HEED_CHECK(floating && sequences.dtype == pooled.dtype && sequences.contiguous() && pooled.contiguous() &&
                 sequences.rank == 3 && has_shape(pooled, {sequences.shape[0], sequences.shape[2]}),
             "{}: needs sequences [B, L, D] and one vector each [B, D], contiguous and f32 or f64, but got {} and {}",
             function, describe(sequences), describe(pooled));
  return {sequences.shape[0], sequences.shape[1], sequences.shape[2]};
}

void check_padding(std::string_view function, const ConstView& padding, const PoolingExtents& n) {
  if (padding.empty()) return;
  HEED_CHECK(padding.dtype == DType::boolean && padding.contiguous() && has_shape(padding, {n.batch, n.length}),
             "{}: padding must be a contiguous boolean [{}, {}] or empty, but is {}", function, n.batch, n.length,
             describe(padding));
}

void check_at(std::string_view function, const ConstView& at, const PoolingExtents& n) {
  HEED_CHECK(at.dtype == DType::i32 && at.contiguous() && has_shape(at, {n.batch, n.width}),
             "{}: at must be a contiguous i32 [{}, {}], but is {}", function, n.batch, n.width, describe(at));
}

bool left_out(const ConstView& padding, const PoolingExtents& n, Index b, Index l) {
  return !padding.empty() && padding.as<bool>()[b * n.length + l];
}

Index counted(const ConstView& padding, const PoolingExtents& n, Index b) {
  Index count = 0;
  for (Index l = 0; l < n.length; ++l) count += !left_out(padding, n, b, l);
  return count;
}

// Calls f(b) for each sequence, on all threads.
template <typename F>
void for_each_sequence(const PoolingExtents& n, F&& f) {
  parallel_for(n.batch, rows_per_task(n.length * n.width), [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) f(b);
  });
}

template <typename T>
void mean(const T* x, const ConstView& padding, const PoolingExtents& n, T* y) {
  for_each_sequence(n, [&](Index b) {
    const double count = static_cast<double>(std::max<Index>(1, counted(padding, n, b)));
    constexpr Index kColumns = 128;
    for (Index begin = 0; begin < n.width; begin += kColumns) {
      const Index end = std::min(begin + kColumns, n.width);
      double sums[kColumns] = {};
      for (Index l = 0; l < n.length; ++l) {
        if (left_out(padding, n, b, l)) continue;
        const T* row = x + (b * n.length + l) * n.width;
        for (Index d = begin; d < end; ++d) sums[d - begin] += static_cast<double>(row[d]);
      }
      for (Index d = begin; d < end; ++d) y[b * n.width + d] = static_cast<T>(sums[d - begin] / count);
    }
  });
}

template <typename T>
void spread_mean(const ConstView& padding, const T* dy, const PoolingExtents& n, T* dx) {
  for_each_sequence(n, [&](Index b) {
    const double count = static_cast<double>(std::max<Index>(1, counted(padding, n, b)));
    for (Index l = 0; l < n.length; ++l) {
      T* row = dx + (b * n.length + l) * n.width;
      const bool out = left_out(padding, n, b, l);
      for (Index d = 0; d < n.width; ++d) row[d] = out ? T{0} : static_cast<T>(dy[b * n.width + d] / count);
    }
  });
}

template <typename T>
void greatest(const T* x, const ConstView& padding, const PoolingExtents& n, T* y, std::int32_t* at) {
  for_each_sequence(n, [&](Index b) {
    T* best = y + b * n.width;
    std::int32_t* from = at + b * n.width;
    std::fill_n(best, n.width, T{0});
    std::fill_n(from, n.width, -1);
    for (Index l = 0; l < n.length; ++l) {
      if (left_out(padding, n, b, l)) continue;
      const T* row = x + (b * n.length + l) * n.width;
      for (Index d = 0; d < n.width; ++d) {
        const bool better = from[d] < 0 || row[d] > best[d] || (std::isnan(row[d]) && !std::isnan(best[d]));
        if (better) best[d] = row[d], from[d] = static_cast<std::int32_t>(l);
      }
    }
  });
}

template <typename T>
void scatter(const std::int32_t* at, const T* dy, const PoolingExtents& n, T* dx) {
  for_each_sequence(n, [&](Index b) {
    T* sequence = dx + b * n.length * n.width;
    std::fill_n(sequence, n.length * n.width, T{0});
    for (Index d = 0; d < n.width; ++d) {
      const std::int32_t l = at[b * n.width + d];
      if (l >= 0) sequence[l * n.width + d] = dy[b * n.width + d];
    }
  });
}

}  // namespace

void mean_pool(ConstView x, ConstView padding, View y) {
  check_operands("mean_pool", {{"x", x}, {"padding", padding, kOptional}}, {{"y", y}});
  const PoolingExtents n = check("mean_pool", x, y);
  check_padding("mean_pool", padding, n);
  if (x.dtype == DType::f32) return mean(x.as<float>(), padding, n, y.as<float>());
  mean(x.as<double>(), padding, n, y.as<double>());
}

void mean_pool_backward(ConstView padding, ConstView dy, View dx) {
  check_operands("mean_pool_backward", {{"padding", padding, kOptional}, {"dy", dy}}, {{"dx", dx}});
  const PoolingExtents n = check("mean_pool_backward", dx, dy);
  check_padding("mean_pool_backward", padding, n);
  if (dx.dtype == DType::f32) return spread_mean(padding, dy.as<float>(), n, dx.as<float>());
  spread_mean(padding, dy.as<double>(), n, dx.as<double>());
}

void max_pool(ConstView x, ConstView padding, View y, View at) {
  check_operands("max_pool", {{"x", x}, {"padding", padding, kOptional}}, {{"y", y}, {"at", at}});
  const PoolingExtents n = check("max_pool", x, y);
  check_padding("max_pool", padding, n);
  check_at("max_pool", at, n);
  if (x.dtype == DType::f32) return greatest(x.as<float>(), padding, n, y.as<float>(), at.as<std::int32_t>());
  greatest(x.as<double>(), padding, n, y.as<double>(), at.as<std::int32_t>());
}

void max_pool_backward(ConstView at, ConstView dy, View dx) {
  check_operands("max_pool_backward", {{"at", at}, {"dy", dy}}, {{"dx", dx}});
  const PoolingExtents n = check("max_pool_backward", dx, dy);
  check_at("max_pool_backward", at, n);
  const std::int32_t* from = at.as<std::int32_t>();
  for (Index i = 0; i < at.size(); ++i) {
    HEED_CHECK(from[i] >= -1 && from[i] < n.length, "max_pool_backward: at has {} of a length of {}", from[i],
               n.length);
  }
  if (dx.dtype == DType::f32) return scatter(from, dy.as<float>(), n, dx.as<float>());
  scatter(from, dy.as<double>(), n, dx.as<double>());
}

}  // namespace heed
