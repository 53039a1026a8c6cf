// Options from Python's keyword arguments, by the visit_fields that the command line and configurations come from too.
//
//   BeamOptions options;
//   read_fields("heed.Model.translate", given, options);     // given: {"beam": 5}
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "heed/io/fields.h"

namespace heed::python {

namespace py = pybind11;

// What is told of a value that JSON cannot hold is Python's own.
inline Json to_json(const char* caller, const py::dict& given) {
  return Json::parse(std::string(py::str(py::module_::import("json").attr("dumps")(given))), caller);
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
