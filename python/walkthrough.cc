// Attention taken apart step by step.
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "array.h"
#include "bindings.h"
#include "heed/base/check.h"
#include "heed/tasks/explain/attention_inputs.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/explanation_picture.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed::python {
namespace {

const char* const kCaller = "heed.walkthrough";

NamedArray named(const py::dict& arrays, const char* name) {
  if (!arrays.contains(name)) return {};
  return {fmt::format("{}: {}", kCaller, name), Tensor::copy_of(share_tensor(kCaller, name, arrays[name]).view())};
}

Explanation walk_arrays(const py::dict& arrays, Index heads, Index key_heads, bool causal, std::optional<double> scale,
                        const std::string& attention, const std::vector<std::string>& labels,
                        const std::vector<std::string>& key_labels, const std::string& language) {
  AttentionInputs inputs = attention_inputs({.q = named(arrays, "q"),
                                             .k = named(arrays, "k"),
                                             .v = named(arrays, "v"),
                                             .x = named(arrays, "x"),
                                             .memory = named(arrays, "memory"),
                                             .w_q = named(arrays, "w_q"),
                                             .w_k = named(arrays, "w_k"),
                                             .w_v = named(arrays, "w_v"),
                                             .w_o = named(arrays, "w_o"),
                                             .heads = heads,
                                             .key_heads = key_heads,
                                             .mask = named(arrays, "mask"),
                                             .additive_vector = named(arrays, "additive_vector")});
  inputs.causal = causal, inputs.scale = scale;
  if (!attention.empty()) inputs.attention = AttentionChoice(attention);
  inputs.query_labels = labels, inputs.key_labels = key_labels;
  return explain_attention(inputs, language_named(language));
}

Explanation walk_example(const std::string& name, Index length, Index width, const std::string& language) {
  return explain_example(name, {length, width}, language_named(language));
}

// [(name, title, formula, meaning, [(name, row labels, column labels, values [rows, columns], batch element, head)])]
py::list steps_of(const Explanation& explanation) {
  py::list steps;
  for (const ExplanationStep& step : explanation.steps) {
    py::list matrices;
    for (const LabelledMatrix& matrix : step.matrices) {
      const Tensor values = Tensor::from(matrix.values, {matrix.rows(), matrix.columns()});
      matrices.append(py::make_tuple(matrix.name, matrix.row_labels, matrix.column_labels, Library().give(values),
                                     matrix.batch, matrix.head));
    }
    steps.append(py::make_tuple(step.name, step.title, step.formula, step.meaning, matrices));
  }
  return steps;
}

}  // namespace

void add_walkthrough(py::module_& module) {
  py::class_<Explanation>(module, "Explanation")
      .def_property_readonly("title", [](const Explanation& explanation) { return explanation.title; })
      .def_property_readonly("introduction", [](const Explanation& explanation) { return explanation.introduction; })
      .def_property_readonly("steps", &steps_of)
      .def("text", &to_text)
      .def("json", [](const Explanation& explanation) { return to_json(explanation).dump(2); })
      .def("picture", [](const Explanation& explanation, const std::string& name) {
        return py::bytes(render(draw_explanation(explanation), picture_format(name)));
      });
  module.def("walk_arrays", &walk_arrays);
  module.def("walk_example", &walk_example);
}

}  // namespace heed::python
