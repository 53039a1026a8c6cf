// Arrays of other libraries as views, and tensors as arrays of other libraries: the memory is shared, never copied.
//
//   const SharedArray q = share("attention", "q", object);      // NumPy, its buffer protocol, or DLPack
//   const Library library = Library::of(object);
//   return library.give(Tensor::empty_like(q.view));            // a NumPy array for NumPy, a torch tensor for torch
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>

#include "heed/tensor/tensor.h"

namespace heed::python {

namespace py = pybind11;

// Somebody else's array. The view is good for as long as `owner` is held; it is written only where it may be.
struct SharedArray {
  View view{};
  bool writable = false;
  py::object owner{};
};

// As Python names it: "list", "numpy.ndarray".
std::string type_name(py::handle object);

// Looks at an array: f32, f64, f16, bf16 (DLPack alone has it), i8, i32, i64 or boolean, of at most kMaxRank axes, with
// any strides. Throws heed::Error, naming `caller` and `name`, for what is no array, and for what only a copy could
// show: another type or byte order, a stride that is no whole number of elements, memory of another device.
SharedArray share(const char* caller, const char* name, py::handle object);

// The same for memory that is to be written. Throws heed::Error where it is read-only.
SharedArray share_writable(const char* caller, const char* name, py::handle object);

// The same as a tensor that keeps the array alive. A list or tuple of numbers is taken over by value, as NumPy reads
// it. None is an empty tensor. Of a torch tensor that has a gradient it is the numbers: heed.torch knows of the rest.
Tensor share_tensor(const char* caller, const char* name, py::handle object);

// The view with axes of extent 1 before its own, until there are `rank`: as NumPy and torch broadcast.
Tensor with_leading_axes(const Tensor& tensor, int rank);

// A Python object that is let go with the last copy, by whichever thread.
std::shared_ptr<void> hold(py::object object);

// The library that results go to: that of an operand.
class Library {
 public:
  // NumPy for its arrays and for whatever else has a buffer; otherwise the from_dlpack of the array's own library.
  static Library of(py::handle operand);

  // The tensor as an array of the library; None for an empty one. What no library takes is an `Array`.
  py::object give(const Tensor& tensor) const;

 private:
  py::object from_dlpack_;  // null: NumPy; None: no library that heed can ask
};

}  // namespace heed::python
