// The parts of the extension `heed._heed`: each adds its functions and classes to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace heed::python {

void add_array(pybind11::module_& module);      // array.cc
void add_spec(pybind11::module_& module);       // spec.cc
void add_attention(pybind11::module_& module);  // attention.cc
void add_rows(pybind11::module_& module);       // rows.cc
void add_metrics(pybind11::module_& module);    // metrics.cc
void add_model(pybind11::module_& module);      // model.cc
void add_training(pybind11::module_& module);   // training.cc
void add_pictures(pybind11::module_& module);   // pictures.cc
void add_senses(pybind11::module_& module);     // senses.cc

void add_walkthrough(pybind11::module_& module);     // walkthrough.cc
void add_classification(pybind11::module_& module);  // classification.cc

}  // namespace heed::python
