// Attention taken apart step by step.
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "array.h"
#include "bindings.h"
#include "heed/base/check.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/explanation_picture.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed::python {
namespace {

const char* const kCaller = "heed.walkthrough";

// [L, D], [H, L, D] or [B, H, L, D] of any floating type, as the walk takes it.
Tensor four_axes(const char* name, const py::object& array) {
  const Tensor given = with_leading_axes(share_tensor(kCaller, name, array), 4);
  HEED_CHECK(given && given.rank() == 4, "{}: {} must be [L, D], [heads, L, D] or [batch, heads, L, D]", kCaller, name);
  return given.to(DType::f64);
}

Explanation walk_arrays(const py::object& q, const py::object& k, const py::object& v, bool causal,
                        const py::object& allowed, std::optional<double> scale) {
  AttentionInputs inputs = two_by_two_inputs();
  if (!q.is_none()) inputs.q = four_axes("q", q), inputs.k = four_axes("k", k), inputs.v = four_axes("v", v);
  inputs.causal = causal, inputs.scale = scale;
  inputs.allowed = with_leading_axes(share_tensor(kCaller, "mask", allowed), 4);
  return explain_attention(inputs);
}

Explanation walk_example(const std::string& name, Index length, Index width) {
  if (name == "thinking-machines") return explain_thinking_machines();
  if (name == "bahdanau") return explain_bahdanau();
  if (name == "luong") return explain_luong();
  if (name == "positions") return explain_positions(length, width);
  fail("{}: example must be one of attention, thinking-machines, bahdanau, luong, positions, but is '{}'", kCaller,
       name);
}

// [(name, title, formula, meaning, [(name, row labels, column labels, values [rows, columns])])]
py::list steps_of(const Explanation& explanation) {
  py::list steps;
  for (const ExplanationStep& step : explanation.steps) {
    py::list matrices;
    for (const LabelledMatrix& matrix : step.matrices) {
      const Tensor values = Tensor::from(matrix.values, {matrix.rows(), matrix.columns()});
      matrices.append(py::make_tuple(matrix.name, matrix.row_labels, matrix.column_labels, Library().give(values)));
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
      .def("picture", [](const Explanation& explanation, const std::string& name) {
        return py::bytes(render(draw_explanation(explanation), picture_format(name)));
      });
  module.def("walk_arrays", &walk_arrays);
  module.def("walk_example", &walk_example);
}

}  // namespace heed::python
