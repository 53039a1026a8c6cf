// import heed._heed
#include <pybind11/pybind11.h>

#include <exception>

#include "bindings.h"
#include "heed/base/error.h"

namespace py = pybind11;

PYBIND11_MODULE(_heed, module) {
  module.doc() = "heed's C++, as the package `heed` uses it.";
  static PyObject* const error = PyErr_NewExceptionWithDoc(
      "heed.Error", "What the caller, or a file, got wrong, in one line.", PyExc_ValueError, nullptr);
  if (error == nullptr) throw py::error_already_set();
  module.add_object("Error", error);
  module.attr("version") = HEED_VERSION;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const heed::Error& refused) {
      PyErr_SetString(error, refused.what());
    }
  });
  heed::python::add_array(module);
  heed::python::add_spec(module);
  heed::python::add_attention(module);
  heed::python::add_rows(module);
  heed::python::add_metrics(module);
  heed::python::add_model(module);
  heed::python::add_classification(module);
  heed::python::add_senses(module);
  heed::python::add_training(module);
  heed::python::add_pictures(module);
  heed::python::add_walkthrough(module);
}
