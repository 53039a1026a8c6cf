// Options from Python's keyword arguments, by the visit_fields that the command line and configurations come from too.
//
//   BeamOptions options;
//   read_fields("heed.Model.translate", given, options);     // given: {"beam": 5}
#pragma once

#include <pybind11/pybind11.h>

#include <cmath>
#include <string>

#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed::python {

namespace py = pybind11;

// Numbers and arrays of NumPy's, and of other libraries that have tolist(), are numbers and lists too.
inline Json to_json(const char* caller, const py::dict& given) {
  using namespace py::literals;
  for (const auto& [name, value] : given) {
    const bool is_finite = !py::isinstance<py::float_>(value) || std::isfinite(value.cast<double>());
    HEED_CHECK(is_finite, "{}: {} must be finite, but is {}", caller, name.cast<std::string>(),
               py::str(value).cast<std::string>());
  }
  const py::cpp_function other([caller](const py::object& value) -> py::object {
    HEED_CHECK(py::hasattr(value, "tolist"), "{}: options are numbers, texts and lists of them, but one is of type {}",
               caller, py::str(py::type::of(value).attr("__name__")).cast<std::string>());
    return value.attr("tolist")();
  });
  const py::object text = py::module_::import("json").attr("dumps")(given, "default"_a = other);
  return Json::parse(text.cast<std::string>(), caller);
}

// Sets the fields that are given. Throws heed::Error that begins with `caller` and names the field, for an unknown one,
// a value of another type and one out of its range.
template <HasFields Options>
void read_fields(const char* caller, const py::dict& given, Options& options) {
  from_json(to_json(caller, given), options, Missing::keep_default);
  check_ranges(options, caller);
}

// Takes the fields of Options out of a dict, as another dict.
template <HasFields Options>
py::dict take_fields(py::dict& given, Options options) {
  py::dict taken;
  visit_fields(options, [&](std::string_view name, auto&, std::string_view, NumberRange = {}) {
    const py::str key{std::string(name)};
    if (given.contains(key)) taken[key] = given.attr("pop")(key);
  });
  return taken;
}

}  // namespace heed::python
