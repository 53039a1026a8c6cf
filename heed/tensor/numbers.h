// Single numbers of any storage type, as attention reads and writes them.
#pragma once

#include <cstdint>

#include "heed/base/check.h"
#include "heed/base/float16.h"
#include "heed/tensor/row_storage.h"
#include "heed/tensor/view.h"

namespace heed {

inline bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }
inline bool is_16_bit(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

inline Index integer_at(const ConstView& view, std::initializer_list<Index> index) {
  return view.dtype == DType::i32 ? Index{view.at<std::int32_t>(index)} : Index{view.at<std::int64_t>(index)};
}

// Throws heed::Error unless the view is i32 or i64 [extent].
inline void check_integers(const char* caller, const char* name, const ConstView& view, Index extent) {
  HEED_CHECK(view.rank == 1 && view.shape[0] == extent && is_integer(view.dtype),
             "{}: {} must be i32 or i64 [{}], but are {}", caller, name, extent, describe(view));
}

// Calls f with a null pointer of the element type of a floating dtype.
template <typename F>
auto with_float_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(static_cast<double*>(nullptr));
    case DType::bf16:
      return f(static_cast<BFloat16*>(nullptr));
    case DType::f16:
      return f(static_cast<Float16*>(nullptr));
    default:
      return f(static_cast<float*>(nullptr));
  }
}

inline float widened(float x) { return x; }
inline double widened(double x) { return x; }
inline float widened(BFloat16 x) { return to_float(x); }
inline float widened(Float16 x) { return to_float(x); }

template <typename T, typename Sum>
T narrowed(Sum x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

// The number at an index of a floating view.
template <typename Sum>
Sum number_at(const ConstView& view, std::initializer_list<Index> index) {
  return with_float_type(view.dtype, [&](auto* type) {
    return static_cast<Sum>(widened(view.at<std::remove_pointer_t<decltype(type)>>(index)));
  });
}

template <typename Sum>
void store_number(const View& view, std::initializer_list<Index> index, Sum value) {
  with_float_type(view.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    view.at<T>(index) = narrowed<T>(value);
  });
}

template <typename Sum>
void add_number(const View& view, std::initializer_list<Index> index, Sum value) {
  store_number(view, index, number_at<Sum>(view, index) + value);
}

// Strides of 0 where an extent of 1 stands for all of an axis.
template <typename AnyView>
AnyView broadcast_axes(AnyView view, int axes) {
  for (int axis = 0; axis < axes; ++axis) {
    if (view.shape[axis] == 1) view.stride[axis] = 0;
  }
  return view;
}

}  // namespace heed
