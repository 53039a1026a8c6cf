// A tensor: a view that owns its memory.
//
//   Tensor x = Tensor::zeros(DType::f32, {2, 3});
//   x.at<float>({1, 2}) = 4;
//   linear(x, w, b, y);                            // converts to View and ConstView
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "heed/base/index.h"
#include "heed/tensor/view.h"

namespace heed {

// Contiguous, row-major, 64-byte aligned (but for borrow). Copying a Tensor shares its memory, as a pointer does;
// clone() copies numbers. A default-constructed tensor is empty and converts to an empty view. Freed memory is kept for
// the next tensor of the same size class (training allocates the same shapes at every step), up to a bound.
class Tensor {
 public:
  Tensor() = default;
  static Tensor empty(DType dtype, std::initializer_list<Index> shape);  // elements are not initialised
  static Tensor zeros(DType dtype, std::initializer_list<Index> shape);
  static Tensor empty_like(const ConstView& view);  // contiguous, whatever the view's strides
  static Tensor zeros_like(const ConstView& view);
  // Copies a view's elements.
  static Tensor copy_of(const ConstView& view);
  // A tensor over memory that is not its own, with the view's strides. `owner` lives as long as the tensor and its
  // copies do; without one, somebody else keeps the memory alive.
  static Tensor borrow(const View& view, std::shared_ptr<void> owner = nullptr);
  // Copies as many values as the shape has elements; throws heed::Error where there are more or fewer.
  template <typename T>
  static Tensor from(std::span<const T> values, std::initializer_list<Index> shape) {
    return copy_of_all(make_view(values.data(), shape), static_cast<Index>(values.size()));
  }
  template <typename T>
  static Tensor from(const std::vector<T>& values, std::initializer_list<Index> shape) {
    return from(std::span<const T>(values), shape);
  }

  operator View() const { return view_; }  // NOLINT: a tensor is used as its view
  const View& view() const { return view_; }
  Tensor clone() const { return copy_of(view_); }
  // The elements converted to another floating type.
  Tensor to(DType dtype) const;
  // The same memory in another shape.
  Tensor reshape(std::initializer_list<Index> shape) const;
  // The same memory through another view of it.
  Tensor through(const View& view) const;
  // Elements [begin, end) of the first axis, the same memory.
  Tensor rows(Index begin, Index end) const;
  // A new tensor of the given rows (indices along the first axis), in this order; one may come several times.
  Tensor gather_rows(std::span<const Index> rows) const;

  explicit operator bool() const { return !is_empty(); }
  bool is_empty() const { return view_.empty(); }
  DType dtype() const { return view_.dtype; }
  int rank() const { return view_.rank; }
  Index dim(int axis) const { return view_.shape[axis]; }
  Index size() const { return view_.size(); }
  // No other tensor shares this memory.
  bool unique() const { return storage_.use_count() == 1; }
  template <typename T>
  T* data() const {
    return view_.as<T>();
  }
  template <typename T>
  T& at(std::initializer_list<Index> index) const {
    return view_.at<T>(index);
  }

 private:
  static Tensor copy_of_all(const ConstView& view, Index values);

  View view_;
  std::shared_ptr<void> storage_;
};

// A new tensor of the rows of both, one's behind the other's. Where their other extents differ it has the larger, with
// zeros behind what is shorter; an empty tensor has no rows. Throws heed::Error for two types or ranks.
Tensor join_rows(const Tensor& above, const Tensor& below);

}  // namespace heed
