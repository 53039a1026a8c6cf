// A view: where numbers lie in memory, without owning them. Operators take and fill views, so packed projections, [B,
// L, H, D] and [B, H, L, D] are strides, and nothing is copied.
//
//   float x[6];
//   View m = make_view(x, {2, 3});                 // a 2x3 matrix, row-major
//   View t = transpose(m, 0, 1);                   // its transpose, the same memory
//   float& last = m.at<float>({1, 2});
#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/tensor/dtype.h"

namespace heed {

inline constexpr int kMaxRank = 4;
using Shape = std::array<Index, kMaxRank>;  // unused extents are 1

// Read-only numbers. Strides are in elements and may be 0 (broadcast) or negative. A default-constructed view is empty:
// it stands for "not given" or "not wanted".
struct ConstView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;
  Shape shape{1, 1, 1, 1};
  Shape stride{0, 0, 0, 0};

  bool empty() const { return data == nullptr; }
  explicit operator bool() const { return !empty(); }
  // The product of the extents.
  Index size() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  // Elements in row-major order without gaps.
  bool contiguous() const;
  Index offset(std::initializer_list<Index> index) const {
    Index sum = 0;
    int axis = 0;
    for (Index i : index) sum += i * stride[axis++];
    return sum;
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  template <typename T>
  const T& at(std::initializer_list<Index> index) const {
    return as<T>()[offset(index)];
  }
};

// The same, writable. No View is made of a ConstView: what may only be read stays so.
struct View : ConstView {
  View() = default;
  template <typename T>
  T* as() const {
    return static_cast<T*>(const_cast<void*>(data));
  }
  template <typename T>
  T& at(std::initializer_list<Index> index) const {
    return as<T>()[offset(index)];
  }
};

// A row-major view of the given shape over memory that the caller owns. Throws heed::Error for more than kMaxRank axes,
// a negative extent, and extents whose product (zeros left out) is more than a machine holds.
View make_view(void* data, DType dtype, std::initializer_list<Index> shape);
ConstView make_view(const void* data, DType dtype, std::initializer_list<Index> shape);
template <typename T>
View make_view(T* data, std::initializer_list<Index> shape) {
  return make_view(static_cast<void*>(data), kDTypeOf<T>, shape);
}
template <typename T>
ConstView make_view(const T* data, std::initializer_list<Index> shape) {
  return make_view(static_cast<const void*>(data), kDTypeOf<T>, shape);
}

// The view with two axes exchanged.
View transpose(View view, int axis_a, int axis_b);
ConstView transpose(ConstView view, int axis_a, int axis_b);

// Elements begin to end (exclusive) along one axis, or every `step`-th of them. Throws heed::Error when out of range.
View slice(View view, int axis, Index begin, Index end, Index step = 1);
ConstView slice(ConstView view, int axis, Index begin, Index end, Index step = 1);

// The view without `axis`, at `index` along it.
View select(View view, int axis, Index index);
ConstView select(ConstView view, int axis, Index index);

// A contiguous view in another shape of the same size. Throws heed::Error for a view that is not contiguous.
View reshape(View view, std::initializer_list<Index> shape);
ConstView reshape(ConstView view, std::initializer_list<Index> shape);

// [B, L, H * D] as [B, H, L, D]: the heads of a projected sequence. The last axis must have stride 1.
View split_heads(View view, Index heads);
ConstView split_heads(ConstView view, Index heads);

// "f32 [2, 3, 4]", with strides where the view is not contiguous: for error messages.
std::string describe(const ConstView& view);
bool same_shape(const ConstView& a, const ConstView& b);
bool has_shape(const ConstView& view, std::initializer_list<Index> shape);

// Copies elements, which may convert between floating types; shapes must agree. Throws heed::Error.
void copy(ConstView from, View to);
// Sets every element. Floating types, integers and boolean (value != 0).
void fill(View view, double value);

}  // namespace heed
