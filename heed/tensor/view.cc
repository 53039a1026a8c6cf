#include "heed/tensor/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "heed/base/check.h"
#include "heed/tensor/shape_bytes.h"

namespace heed {
namespace {

// Runs f over the offsets of the elements of two views of one shape.
template <typename F>
void for_each_pair(const ConstView& a, const ConstView& b, F&& f) {
  for (Index i = 0; i < a.shape[0]; ++i)
    for (Index j = 0; j < a.shape[1]; ++j)
      for (Index k = 0; k < a.shape[2]; ++k)
        for (Index l = 0; l < a.shape[3]; ++l) f(a.offset({i, j, k, l}), b.offset({i, j, k, l}));
}

double load(const ConstView& view, Index offset) {
  switch (view.dtype) {
    case DType::f32:
      return view.as<float>()[offset];
    case DType::f64:
      return view.as<double>()[offset];
    case DType::bf16:
      return to_float(view.as<BFloat16>()[offset]);
    case DType::f16:
      return to_float(view.as<Float16>()[offset]);
    case DType::i8:
      return view.as<std::int8_t>()[offset];
    case DType::i32:
      return view.as<std::int32_t>()[offset];
    case DType::i64:
      return static_cast<double>(view.as<std::int64_t>()[offset]);
    case DType::boolean:
      return view.as<std::uint8_t>()[offset] != 0;
  }
  return 0;
}

void store(const View& view, Index offset, double value) {
  switch (view.dtype) {
    case DType::f32:
      view.as<float>()[offset] = static_cast<float>(value);
      return;
    case DType::f64:
      view.as<double>()[offset] = value;
      return;
    case DType::bf16:
      view.as<BFloat16>()[offset] = to_bfloat16(static_cast<float>(value));
      return;
    case DType::f16:
      view.as<Float16>()[offset] = to_float16(static_cast<float>(value));
      return;
    case DType::i8:
      view.as<std::int8_t>()[offset] = static_cast<std::int8_t>(value);
      return;
    case DType::i32:
      view.as<std::int32_t>()[offset] = static_cast<std::int32_t>(value);
      return;
    case DType::i64:
      view.as<std::int64_t>()[offset] = static_cast<std::int64_t>(value);
      return;
    case DType::boolean:
      view.as<std::uint8_t>()[offset] = value != 0;
      return;
  }
}

template <typename V>
V make(V view, DType dtype, std::initializer_list<Index> shape, std::string_view function) {
  checked_bytes(dtype, {shape.begin(), shape.size()}, function);
  view.dtype = dtype;
  view.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape.begin());
  Index stride = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    view.stride[axis] = stride;
    stride *= view.shape[axis];
  }
  return view;
}

template <typename V>
V advance(V view, Index elements) {
  view.data = static_cast<const char*>(view.data) + elements * size_of(view.dtype);
  return view;
}

template <typename V>
V transposed(V view, int a, int b) {
  HEED_CHECK(a >= 0 && b >= 0 && a < view.rank && b < view.rank, "transpose: axes {} and {} of {}", a, b,
             describe(view));
  std::swap(view.shape[a], view.shape[b]);
  std::swap(view.stride[a], view.stride[b]);
  return view;
}

template <typename V>
V sliced(V view, int axis, Index begin, Index end, Index step) {
  HEED_CHECK(axis >= 0 && axis < view.rank && 0 <= begin && begin <= end && end <= view.shape[axis] && step >= 1,
             "slice: every {} of [{}, {}) of axis {} of {}", step, begin, end, axis, describe(view));
  view = advance(view, begin * view.stride[axis]);
  view.shape[axis] = ceil_div(end - begin, step);
  view.stride[axis] *= step;
  return view;
}

template <typename V>
V selected(V view, int axis, Index index) {
  HEED_CHECK(axis >= 0 && axis < view.rank && 0 <= index && index < view.shape[axis], "select: {} of axis {} of {}",
             index, axis, describe(view));
  view = advance(view, index * view.stride[axis]);
  for (int a = axis; a + 1 < kMaxRank; ++a) {
    view.shape[a] = view.shape[a + 1];
    view.stride[a] = view.stride[a + 1];
  }
  view.shape[kMaxRank - 1] = 1;
  view.stride[kMaxRank - 1] = 0;
  --view.rank;
  return view;
}

template <typename V>
V reshaped(V view, std::initializer_list<Index> shape) {
  HEED_CHECK(view.contiguous(), "reshape: the view must be contiguous, but is {}", describe(view));
  V result = make(V{}, view.dtype, shape, "reshape");
  HEED_CHECK(result.size() == view.size(), "reshape: {} has {} elements, the new shape has {}", describe(view),
             view.size(), result.size());
  result.data = view.data;
  return result;
}

template <typename V>
V with_heads(V view, Index heads) {
  HEED_CHECK(view.rank == 3 && heads >= 1 && view.shape[2] % heads == 0 && (view.stride[2] == 1 || view.shape[2] <= 1),
             "split_heads: needs [B, L, {} * D] with stride 1 along the last axis, but got {}", heads, describe(view));
  const Index width = view.shape[2] / heads;
  const Shape shape = view.shape, stride = view.stride;
  view.rank = 4;
  view.shape = {shape[0], heads, shape[1], width};
  view.stride = {stride[0], width, stride[1], 1};
  return view;
}

}  // namespace

bool ConstView::contiguous() const {
  Index expected = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (shape[axis] != 1 && stride[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

View make_view(void* data, DType dtype, std::initializer_list<Index> shape) {
  View view;
  view.data = data;
  return make(view, dtype, shape, "make_view");
}
ConstView make_view(const void* data, DType dtype, std::initializer_list<Index> shape) {
  ConstView view;
  view.data = data;
  return make(view, dtype, shape, "make_view");
}

View transpose(View view, int a, int b) { return transposed(view, a, b); }
ConstView transpose(ConstView view, int a, int b) { return transposed(view, a, b); }
View slice(View view, int axis, Index begin, Index end, Index step) { return sliced(view, axis, begin, end, step); }
ConstView slice(ConstView view, int axis, Index begin, Index end, Index step) {
  return sliced(view, axis, begin, end, step);
}
View select(View view, int axis, Index index) { return selected(view, axis, index); }
ConstView select(ConstView view, int axis, Index index) { return selected(view, axis, index); }
View reshape(View view, std::initializer_list<Index> shape) { return reshaped(view, shape); }
ConstView reshape(ConstView view, std::initializer_list<Index> shape) { return reshaped(view, shape); }
View split_heads(View view, Index heads) { return with_heads(view, heads); }
ConstView split_heads(ConstView view, Index heads) { return with_heads(view, heads); }

std::string describe(const ConstView& view) {
  if (view.empty()) return "an empty view";
  const auto list = [&](const Shape& values) {
    return fmt::format("[{}]", fmt::join(values.begin(), values.begin() + view.rank, ", "));
  };
  std::string text = fmt::format("{} {}", name_of(view.dtype), list(view.shape));
  if (!view.contiguous()) text += fmt::format(" with strides {}", list(view.stride));
  return text;
}

bool same_shape(const ConstView& a, const ConstView& b) { return a.rank == b.rank && a.shape == b.shape; }

bool has_shape(const ConstView& view, std::initializer_list<Index> shape) {
  return view.rank == static_cast<int>(shape.size()) && std::equal(shape.begin(), shape.end(), view.shape.begin());
}

void copy(ConstView from, View to) {
  HEED_CHECK(same_shape(from, to), "copy: shapes must agree, but are {} and {}", describe(from), describe(to));
  if (from.size() == 0) return;
  if (from.dtype == to.dtype && from.contiguous() && to.contiguous()) {
    std::memmove(to.as<char>(), from.data, static_cast<std::size_t>(from.size() * size_of(from.dtype)));
    return;
  }
  const Index bytes = size_of(from.dtype);
  if (from.dtype == to.dtype) {  // bytes, so that 64-bit integers and NaN payloads stay as they are
    // Whole runs along the last axis where both sides have them.
    const int last = from.rank - 1;
    const bool runs = last >= 0 && (from.shape[last] == 1 || (from.stride[last] == 1 && to.stride[last] == 1));
    const ConstView heads = runs ? slice(from, last, 0, 1) : from;
    const std::size_t run = static_cast<std::size_t>((runs ? from.shape[last] : 1) * bytes);
    for_each_pair(heads, to,
                  [&](Index a, Index b) { std::memcpy(to.as<char>() + b * bytes, from.as<char>() + a * bytes, run); });
    return;
  }
  for_each_pair(from, to, [&](Index a, Index b) { store(to, b, load(from, a)); });
}

void fill(View view, double value) {
  if (view.size() == 0) return;
  if (value == 0 && view.contiguous()) {
    std::memset(view.as<char>(), 0, static_cast<std::size_t>(view.size() * size_of(view.dtype)));
    return;
  }
  if (view.contiguous()) {  // what is filled is copied behind itself
    store(view, 0, value);
    const Index bytes = view.size() * size_of(view.dtype);
    for (Index filled = size_of(view.dtype); filled < bytes; filled *= 2) {
      std::memcpy(view.as<char>() + filled, view.as<char>(),
                  static_cast<std::size_t>(std::min(filled, bytes - filled)));
    }
    return;
  }
  for_each_pair(view, view, [&](Index a, Index) { store(view, a, value); });
}

}  // namespace heed
