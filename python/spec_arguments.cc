#include "spec_arguments.h"

#include <optional>
#include <string>

#include "array.h"
#include "heed/base/check.h"

namespace heed::python {
namespace {

// The value of a class that Python has a maker of; `value` as it is for None.
template <typename T>
void read_value(const char* caller, const char* name, py::handle object, T& value, const char* makers) {
  if (object.is_none()) return;
  HEED_CHECK(py::isinstance<T>(object), "{}: {} must be made by {}, but is of type {}", caller, name, makers,
             type_name(object));
  value = object.cast<const T&>();
}

std::optional<double> read_number(const char* caller, const char* name, py::handle object) {
  if (object.is_none()) return {};
  const double number = PyFloat_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    fail("{}: {} must be a number, but is of type {}", caller, name, type_name(object));
  }
  return number;
}

Dropout read_dropout(const char* caller, py::handle object) {
  Dropout dropout;
  if (py::isinstance<Dropout>(object)) return object.cast<const Dropout&>();
  if (const auto probability = read_number(caller, "dropout", object)) dropout.probability = *probability;
  return dropout;
}

RowScales read_scales(const char* caller, py::handle object) {
  if (object.is_none()) return {};
  HEED_CHECK(PyTuple_Check(object.ptr()) && py::len(object) == 2,
             "{}: scales must be a tuple of the scales of k and of v, but is of type {}", caller, type_name(object));
  const auto pair = py::reinterpret_borrow<py::tuple>(object);
  return {share_tensor(caller, "the scales of k", pair[0]), share_tensor(caller, "the scales of v", pair[1])};
}

}  // namespace

Bias BiasTerms::of_heads(Index heads, DType number) const {
  Bias made = bias;
  if (alibi) {
    made.alibi = Tensor::empty(number, {heads});
    alibi_slopes(made.alibi);
  }
  return made;
}

Mask make_mask(const char* caller, py::handle object) {
  if (object.is_none()) return {};
  if (py::isinstance<Mask>(object)) return object.cast<const Mask&>();
  const Tensor allowed = share_tensor(caller, "mask", object);
  HEED_CHECK(
      allowed.dtype() == DType::boolean,
      "{}: a mask must be a heed.Mask or a boolean array (True means attend), but is {}; numbers that are added to "
      "the scores are a bias",
      caller, describe(allowed.view()));
  return Mask::boolean(with_leading_axes(allowed, 4));
}

BiasTerms make_bias(const char* caller, py::handle object) {
  if (object.is_none()) return {};
  if (py::isinstance<BiasTerms>(object)) return object.cast<const BiasTerms&>();
  BiasTerms terms;
  terms.bias.dense = with_leading_axes(share_tensor(caller, "bias", object), 4);
  return terms;
}

AttentionSpec make_spec(const char* caller, const py::tuple& options, const ConstView& q) {
  constexpr std::size_t kOptions = 9;
  HEED_CHECK(options.size() == kOptions, "{}: takes {} options, but got {}", caller, kOptions, options.size());
  AttentionSpec spec;
  read_value(caller, "score", options[0], spec.score, "heed.scaled_dot(), heed.dot(), heed.additive() and the like");
  if (!options[1].is_none()) {
    const DType number = q.dtype == DType::f64 ? DType::f64 : DType::f32;
    spec.bias = make_bias(caller, options[1]).of_heads(q.shape[1], number);
  }
  spec.mask = make_mask(caller, options[2]);
  read_value(caller, "normaliser", options[3], spec.normaliser, "heed.softmax(), heed.sparsemax() and the like");
  if (const auto scale = read_number(caller, "scale", options[4])) spec.score.scale = scale;
  spec.bias.soft_cap = read_number(caller, "soft_cap", options[5]);
  spec.dropout = read_dropout(caller, options[6]);
  read_value(caller, "sequences", options[7], spec.sequences, "heed.packed() or heed.paged()");
  spec.scales = read_scales(caller, options[8]);
  return spec;
}

}  // namespace heed::python
