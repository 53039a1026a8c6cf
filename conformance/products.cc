// Gemm and MatMul.
#include <algorithm>

#include "heed/base/check.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gemm.h"
#include "operators.h"

namespace heed::conformance {
namespace {

View matrix(const Case& c, Index input, std::string_view transposed, const Array& array) {
  HEED_CHECK(array.shape.size() == 2, "{} must be a matrix, but has the shape {}", c.input_name(input),
             text_of(array.shape));
  const View view = as_tensor(array, c.input_name(input));
  return c.integer(transposed, 0) != 0 ? transpose(view, 0, 1) : view;
}

// The shape that both broadcast to.
Extents common_shape(const Extents& a, const Extents& b) {
  Extents shape(std::max(a.size(), b.size()), 1);
  for (const Extents* one : {&a, &b}) {
    for (std::size_t back = 1; back <= one->size(); ++back) {
      Index& extent = shape[shape.size() - back];
      const Index own = (*one)[one->size() - back];
      HEED_CHECK(own == extent || own == 1 || extent == 1, "the shapes {} and {} do not broadcast", text_of(a),
                 text_of(b));
      if (own != 1) extent = own;
    }
  }
  return shape;
}

}  // namespace

// y = alpha a b + beta c.
Outputs run_gemm(const Case& c) {
  c.allow_attributes({"alpha", "beta", "transA", "transB"});
  const Array a_array = c.real(0), b_array = c.real(1);
  const View a = matrix(c, 0, "transA", a_array), b = matrix(c, 1, "transB", b_array);
  const Extents shape{a.shape[0], b.shape[1]};
  const Array y = c.has(2) ? broadcast(c.real(2), shape) : make_array(a.dtype, shape);
  if (c.has(2)) scale(y.elements, c.number("beta", 1), y.elements);
  gemm(a, b, as_tensor(y, "Y"), {.accumulate = c.has(2), .alpha = c.number("alpha", 1)});
  return {y};
}

// numpy.matmul: the last two axes are matrices, the others broadcast; a vector is a row on the left, a column on the
// right, and its axis of 1 is dropped from the result.
Outputs matmul(const Case& c) {
  c.allow_attributes({});
  Array a = c.real(0), b = c.real(1);
  HEED_CHECK(!a.shape.empty() && !b.shape.empty(), "MatMul takes no scalars");
  const bool row = a.shape.size() == 1, column = b.shape.size() == 1;
  if (row) a.shape.insert(a.shape.begin(), 1);
  if (column) b.shape.push_back(1);
  const Index m = a.shape[a.shape.size() - 2], k = a.shape.back(), n = b.shape.back();
  HEED_CHECK(b.shape[b.shape.size() - 2] == k, "MatMul: {} and {} do not fit", text_of(c.input(0).shape),
             text_of(c.input(1).shape));
  const Extents batch = common_shape({a.shape.begin(), a.shape.end() - 2}, {b.shape.begin(), b.shape.end() - 2});
  const auto whole = [&](const Array& array, Index rows, Index columns) {
    Extents shape = batch;
    shape.insert(shape.end(), {rows, columns});
    return broadcast(array, shape).elements.reshape({count_of(batch), rows, columns});
  };
  Extents shape = batch;
  if (!row) shape.push_back(m);
  if (!column) shape.push_back(n);
  const Array y = make_array(a.elements.dtype(), shape);
  gemm(whole(a, m, k), whole(b, k, n), y.elements.reshape({count_of(batch), m, n}));
  return {y};
}

}  // namespace heed::conformance
