#include "array.h"

#include <fmt/format.h>

#include <cstring>

#include "heed/base/check.h"

namespace heed::conformance {
namespace {

constexpr Index kMaxBytes = Index{1} << 30;

// The array seen as [before, axis, after].
Tensor around(const Tensor& elements, const Extents& shape, Index axis) {
  const std::span<const Index> all(shape);
  const auto at = static_cast<std::size_t>(axis);
  return elements.reshape({count_of(all.first(at)), shape[at], count_of(all.subspan(at + 1))});
}

}  // namespace

std::string text_of(std::span<const Index> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Index count_of(std::span<const Index> shape) {
  Index count = 1;
  for (const Index extent : shape) count *= extent;
  return count;
}

Array make_array(DType dtype, const Extents& shape) {
  Index bytes = size_of(dtype);
  for (const Index extent : shape) {
    HEED_CHECK(extent >= 0 && (extent == 0 || bytes <= kMaxBytes / extent), "an array of shape {} is not made here",
               text_of(shape));
    bytes *= extent == 0 ? 1 : extent;
  }
  return {shape, Tensor::empty(dtype, {count_of(shape)})};
}

Tensor as_tensor(const Array& array, std::string_view name) {
  const Extents& s = array.shape;
  switch (s.size()) {
    case 0:
      return array.elements.reshape({});
    case 1:
      return array.elements;
    case 2:
      return array.elements.reshape({s[0], s[1]});
    case 3:
      return array.elements.reshape({s[0], s[1], s[2]});
    case 4:
      return array.elements.reshape({s[0], s[1], s[2], s[3]});
    default:
      fail("{}: the rank must be at most 4, but the shape is {}", name, text_of(s));
  }
}

Array with_shape(const Tensor& elements, const Extents& shape) {
  HEED_CHECK(elements.size() == count_of(shape), "{} elements do not make an array of shape {}", elements.size(),
             text_of(shape));
  return {shape, elements.reshape({elements.size()})};
}

Array broadcast(const Array& array, const Extents& shape) {
  const auto fits = [&] {
    if (array.shape.size() > shape.size()) return false;
    for (std::size_t back = 1; back <= array.shape.size(); ++back) {
      const Index extent = array.shape[array.shape.size() - back];
      if (extent != 1 && extent != shape[shape.size() - back]) return false;
    }
    return true;
  };
  HEED_CHECK(fits(), "the shape {} does not broadcast to {}", text_of(array.shape), text_of(shape));
  const Array result = make_array(array.elements.dtype(), shape);
  const Index bytes = size_of(array.elements.dtype());
  const std::size_t missing = shape.size() - array.shape.size();
  Extents index(shape.size(), 0);
  for (Index to = 0; to < result.elements.size(); ++to) {
    Index from = 0;
    for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
      from = from * array.shape[axis] + (array.shape[axis] == 1 ? 0 : index[missing + axis]);
    }
    std::memcpy(result.elements.data<char>() + to * bytes, array.elements.data<char>() + from * bytes,
                static_cast<std::size_t>(bytes));
    for (std::size_t axis = shape.size(); axis-- > 0;) {  // the next index, the last axis fastest
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

Index axis_of(Index axis, const Extents& shape) {
  const Index rank = static_cast<Index>(shape.size());
  HEED_CHECK(axis >= -rank && axis < rank, "axis {} is not one of the shape {}", axis, text_of(shape));
  return axis < 0 ? axis + rank : axis;
}

Tensor rows_along(const Array& array, Index axis) {
  const Tensor split = around(array.elements, array.shape, axis);
  return Tensor::copy_of(transpose(split.view(), 1, 2)).reshape({split.dim(0) * split.dim(2), split.dim(1)});
}

Array from_rows(const Tensor& rows, const Extents& shape, Index axis) {
  const Array result = make_array(rows.dtype(), shape);
  const Tensor split = around(result.elements, shape, axis);
  copy(rows.reshape({split.dim(0), split.dim(2), split.dim(1)}), transpose(split.view(), 1, 2));
  return result;
}

}  // namespace heed::conformance
