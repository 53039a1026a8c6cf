#include "heed/tasks/explain/explanation.h"

#include <cmath>
#include <utility>

#include "heed/base/check.h"

namespace heed {
namespace {

Json values_to_json(const LabelledMatrix& matrix) {
  Json rows = Json::array();
  for (Index r = 0; r < matrix.rows(); ++r) {
    std::vector<Json> row;
    for (Index c = 0; c < matrix.columns(); ++c) {
      const double value = matrix.value(r, c);
      row.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    }
    rows.append(Json::array(std::move(row)));
  }
  return rows;
}

Json to_json(const LabelledMatrix& matrix) {
  Json json = Json::object({{"name", matrix.name}});
  if (matrix.batch) json.set("batch", *matrix.batch);
  if (matrix.head) json.set("head", *matrix.head);
  json.set("rows", Json::array_of(matrix.row_labels));
  json.set("columns", Json::array_of(matrix.column_labels));
  json.set("values", values_to_json(matrix));
  return json;
}

}  // namespace

const ExplanationStep& Explanation::step(std::string_view name) const {
  for (const ExplanationStep& candidate : steps) {
    if (candidate.name == name) return candidate;
  }
  fail("Explanation::step: {} has no step '{}'", walk, name);
}

Json to_json(const Explanation& explanation) {
  Json steps = Json::array();
  for (const ExplanationStep& step : explanation.steps) {
    Json matrices = Json::array();
    for (const LabelledMatrix& matrix : step.matrices) matrices.append(to_json(matrix));
    steps.append(Json::object({{"name", step.name},
                               {"title", step.title},
                               {"formula", step.formula},
                               {"meaning", step.meaning},
                               {"matrices", std::move(matrices)}}));
  }
  return Json::object({{"walk", explanation.walk},
                       {"language", language_name(explanation.language)},
                       {"title", explanation.title},
                       {"introduction", explanation.introduction},
                       {"steps", std::move(steps)}});
}

LabelledMatrix label_matrix(std::string name, const ConstView& matrix, std::vector<std::string> row_labels,
                            std::vector<std::string> column_labels) {
  HEED_CHECK((matrix.rank == 1 || matrix.rank == 2) && (matrix.dtype == DType::f32 || matrix.dtype == DType::f64),
             "label_matrix: {} must be a vector or matrix of f32 or f64, but is {}", name, describe(matrix));
  const bool vector = matrix.rank == 1;
  const Index rows = vector ? 1 : matrix.shape[0], columns = matrix.shape[matrix.rank - 1];
  LabelledMatrix labelled{std::move(name), std::move(row_labels), std::move(column_labels), {}};
  HEED_CHECK(labelled.rows() == rows && labelled.columns() == columns,
             "label_matrix: {} is {}, but has {} row labels and {} column labels", labelled.name, describe(matrix),
             labelled.rows(), labelled.columns());
  labelled.values.reserve(static_cast<std::size_t>(rows * columns));
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) {
      const Index at = vector ? c * matrix.stride[0] : matrix.offset({r, c});
      labelled.values.push_back(matrix.dtype == DType::f64 ? matrix.as<double>()[at] : double{matrix.as<float>()[at]});
    }
  }
  return labelled;
}

std::vector<std::string> numbered_labels(std::string_view prefix, Index count, Index first) {
  std::vector<std::string> labels;
  labels.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) labels.push_back(fmt::format("{}{}", prefix, first + i));
  return labels;
}

}  // namespace heed
