#include "heed/tasks/explain/small_matrix.h"

#include <vector>

#include "heed/base/check.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gemm.h"
#include "heed/ops/linear.h"

namespace heed {

Tensor small_matrix(std::initializer_list<std::initializer_list<double>> rows) {
  std::vector<double> values;
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  for (const auto& row : rows) {
    HEED_CHECK(row.size() == columns, "small_matrix: rows must have {} numbers, but one has {}", columns, row.size());
    values.insert(values.end(), row.begin(), row.end());
  }
  return Tensor::from(values, {static_cast<Index>(rows.size()), static_cast<Index>(columns)});
}

Tensor product(ConstView a, ConstView b) {
  const Tensor c = Tensor::empty(DType::f64, {a.shape[0], b.shape[1]});
  gemm(a, b, c);
  return c;
}

Tensor apply_to_rows(ConstView weight, ConstView rows) {
  const Tensor y = Tensor::empty(DType::f64, {rows.shape[0], weight.shape[0]});
  linear(rows, weight, {}, y);
  return y;
}

Tensor side_by_side(std::span<const ConstView> parts) {
  HEED_CHECK(!parts.empty(), "side_by_side: needs a part");
  Index columns = 0;
  for (const ConstView& part : parts) columns += part.shape[1];
  const Tensor joined = Tensor::empty(DType::f64, {parts.front().shape[0], columns});
  concat(parts, joined);
  return joined;
}

Tensor as_one_head(const Tensor& matrix) { return matrix.reshape({1, 1, matrix.dim(0), matrix.dim(1)}); }

ConstView head_of(ConstView heads, Index h, Index b) { return select(select(heads, 0, b), 0, h); }

}  // namespace heed
