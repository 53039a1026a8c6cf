#include "heed/tasks/explain/projected_rows.h"

#include <string_view>

#include "heed/base/check.h"
#include "heed/tasks/explain/small_matrix.h"

namespace heed {
namespace {

std::string shape_of(const Tensor& matrix) { return fmt::format("[{}, {}]", matrix.dim(0), matrix.dim(1)); }

void check_matrix(std::string_view name, const Tensor& matrix) {
  HEED_CHECK(matrix.rank() == 2 && matrix.dtype() == DType::f64 && matrix.size() > 0,
             "{} must be a matrix of numbers, but is {}", name, describe(matrix.view()));
}

void check_product(std::string_view rows_name, const Tensor& rows, std::string_view name, const Tensor& weight) {
  check_matrix(rows_name, rows);
  check_matrix(name, weight);
  HEED_CHECK(rows.dim(1) == weight.dim(0), "{} must have a row for each column of {}, but is {} and {} is {}", name,
             rows_name, shape_of(weight), rows_name, shape_of(rows));
}

void check_heads(std::string_view name, const Tensor& weight, Index heads) {
  HEED_CHECK(weight.dim(1) % heads == 0, "{} must have a multiple of {} columns, one for each head, but is {}", name,
             heads, shape_of(weight));
}

Tensor cut(const Tensor& rows, const Tensor& weight, Index heads) {
  const Tensor projected = product(rows.view(), weight.view());
  return Tensor::copy_of(split_heads(projected.reshape({1, projected.dim(0), projected.dim(1)}).view(), heads));
}

}  // namespace

ProjectedRows::Heads ProjectedRows::project() const {
  HEED_CHECK(heads >= 1 && key_heads >= 1 && heads % key_heads == 0,
             "the heads of queries must be a multiple of those of keys and values, but are {} and {}", heads,
             key_heads);
  const std::string_view source = memory.is_empty() ? "X" : "the memory";
  check_product("X", x, "W_Q", w_q);
  check_product(source, read(), "W_K", w_k);
  check_product(source, read(), "W_V", w_v);
  check_heads("W_Q", w_q, heads);
  check_heads("W_K", w_k, key_heads);
  check_heads("W_V", w_v, key_heads);
  HEED_CHECK(w_q.dim(1) / heads == w_k.dim(1) / key_heads,
             "a head of queries must be as wide as one of keys, but W_Q is {} for {} heads and W_K is {} for {}",
             shape_of(w_q), heads, shape_of(w_k), key_heads);
  if (!w_o.is_empty()) {
    check_matrix("W_O", w_o);
    const Index width = w_v.dim(1) / key_heads * heads;
    HEED_CHECK(w_o.dim(0) == width, "W_O must have {} rows, one for each column of the heads' outputs, but is {}",
               width, shape_of(w_o));
  }
  return {cut(x, w_q, heads), cut(read(), w_k, key_heads), cut(read(), w_v, key_heads)};
}

}  // namespace heed
