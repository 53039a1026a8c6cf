#include "heed/ops/embedding.h"

#include <algorithm>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

void check(std::string_view function, const Weight& weight, const ConstView& ids, const ConstView& rows) {
  const ConstView& table = weight.values;
  const bool shapes_agree = rows.rank == ids.rank + 1 &&
                            std::equal(ids.shape.begin(), ids.shape.begin() + ids.rank, rows.shape.begin()) &&
                            table.rank == 2 && rows.shape[std::max(rows.rank - 1, 0)] == weight.inputs();
  HEED_CHECK(
      shapes_agree && ids.dtype == DType::i32 && weight.wide() == rows.dtype &&
          (rows.dtype == DType::f32 || rows.dtype == DType::f64) && table.contiguous() && ids.contiguous() &&
          rows.contiguous(),
      "{}: needs a table [V, D], i32 ids [...] and rows [..., D], contiguous and f32 or f64, but got {}, {} and {}",
      function, describe_weight(weight), describe(ids), describe(rows));
  check_weight(function, weight);
  const std::int32_t* id = ids.as<std::int32_t>();
  for (Index r = 0; r < ids.size(); ++r) {
    HEED_CHECK(id[r] >= 0 && id[r] < table.shape[0], "{}: id {} at position {} is outside the table of {} rows",
               function, id[r], r, table.shape[0]);
  }
}

template <typename T>
void gather(const T* table, const std::int32_t* id, T scale, Index count, Index width, T* y) {
  parallel_for(count, rows_per_task(width), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const T* from = table + id[r] * width;
      T* to = y + r * width;
      for (Index j = 0; j < width; ++j) to[j] = scale * from[j];
    }
  });
}

void gather_narrow(const Weight& table, const std::int32_t* id, float scale, Index count, float* y) {
  const Index width = table.inputs();
  parallel_for(count, rows_per_task(width), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      float* const to = y + r * width;
      widen_rows(table, id[r], id[r] + 1, to);
      for (Index j = 0; j < width; ++j) to[j] *= scale;
    }
  });
}

// Threads take columns, so that each element is added to by one thread, in the order of the rows.
template <typename T>
void scatter_add(const std::int32_t* id, T scale, const T* dy, Index count, Index width, T* dtable) {
  constexpr Index kCacheLine = 16;
  const Index columns = std::max(kCacheLine, kElementsPerTask / std::max<Index>(count, 1) / kCacheLine * kCacheLine);
  parallel_for(width, columns, [&](Index begin, Index end) {
    for (Index r = 0; r < count; ++r) {
      const T* from = dy + r * width;
      T* to = dtable + id[r] * width;
      for (Index j = begin; j < end; ++j) to[j] += scale * from[j];
    }
  });
}

}  // namespace

void embedding(const Weight& table, ConstView ids, double scale, View y) {
  const ConstView& values = table.values;
  check_operands("embedding", {{"table", values}, {"scales", table.scales, kOptional}, {"ids", ids}}, {{"y", y}});
  check("embedding", table, ids, y);
  const std::int32_t* id = ids.as<std::int32_t>();
  if (is_narrow(values.dtype)) {
    gather_narrow(table, id, static_cast<float>(scale), ids.size(), y.as<float>());
  } else if (y.dtype == DType::f32) {
    gather(values.as<float>(), id, static_cast<float>(scale), ids.size(), values.shape[1], y.as<float>());
  } else {
    gather(values.as<double>(), id, scale, ids.size(), values.shape[1], y.as<double>());
  }
}

void embedding_backward(ConstView ids, double scale, ConstView dy, View dtable) {
  check_operands("embedding_backward", {{"ids", ids}, {"dy", dy}}, {{"dtable", dtable}});
  check("embedding_backward", ConstView(dtable), ids, dy);
  HEED_CHECK(dtable.dtype == dy.dtype, "embedding_backward: a narrow table has no gradient, but it is {}",
             describe(dtable));
  const std::int32_t* id = ids.as<std::int32_t>();
  if (dy.dtype == DType::f32) {
    scatter_add(id, static_cast<float>(scale), dy.as<float>(), ids.size(), dtable.shape[1], dtable.as<float>());
  } else {
    scatter_add(id, scale, dy.as<double>(), ids.size(), dtable.shape[1], dtable.as<double>());
  }
}

}  // namespace heed
