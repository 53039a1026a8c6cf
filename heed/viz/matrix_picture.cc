#include "heed/viz/matrix_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/check.h"

namespace heed {
namespace {

// The matrix as floats, with the least and the greatest of its finite values.
std::vector<float> read_matrix(const ConstView& matrix, const char* caller, double& least, double& most) {
  HEED_CHECK(matrix.rank == 2 && (matrix.dtype == DType::f32 || matrix.dtype == DType::f64),
             "{}: must be a matrix of f32 or f64, but is {}", caller, describe(matrix));
  std::vector<float> values;
  least = 0, most = 0;
  for (Index r = 0; r < matrix.shape[0]; ++r) {
    for (Index c = 0; c < matrix.shape[1]; ++c) {
      const double value = matrix.dtype == DType::f32 ? matrix.at<float>({r, c}) : matrix.at<double>({r, c});
      values.push_back(static_cast<float>(value));
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return values;
}

std::vector<std::string> numbered(Index count) {
  std::vector<std::string> labels;
  for (Index i = 0; i < count; ++i) labels.push_back(fmt::format("{}", i));
  return labels;
}

std::vector<std::string> labels_or_numbers(const std::vector<std::string>& labels, Index count, const char* what) {
  if (labels.empty()) return numbered(count);
  HEED_CHECK(static_cast<Index>(labels.size()) == count, "draw_matrix: there must be {} {} labels, but there are {}",
             count, what, labels.size());
  return labels;
}

}  // namespace

Picture draw_matrix(const ConstView& matrix, const MatrixOptions& options) {
  Heatmap map;
  std::vector<float> values = read_matrix(matrix, "draw_matrix", map.least, map.most);
  map.most = round_scale(std::max(-map.least, map.most));
  map.least = map.least < 0 ? -map.most : 0;
  map.title = options.title;
  map.row_title = options.row_title;
  map.column_title = options.column_title;
  map.row_labels = labels_or_numbers(options.row_labels, matrix.shape[0], "row");
  map.column_labels = labels_or_numbers(options.column_labels, matrix.shape[1], "column");
  map.digits = std::clamp(options.digits, 0, 8);
  map.square = false;
  map.description = fmt::format("A matrix of {} rows and {} columns.", matrix.shape[0], matrix.shape[1]);
  map.panels.push_back({{}, std::move(values)});
  return draw_heatmap(std::move(map));
}

Heatmap positions_heatmap(const ConstView& table, const std::string& title) {
  Heatmap map;
  std::vector<float> values = read_matrix(table, "positions_heatmap", map.least, map.most);
  map.most = round_scale(std::max(-map.least, map.most));
  map.least = -map.most;
  map.title = title;
  map.row_title = "position";
  map.column_title = "dimension";
  map.row_labels = numbered(table.shape[0]);
  map.column_labels = numbered(table.shape[1]);
  map.square = false;
  map.label_spacing = 28;
  map.description = fmt::format("Position encodings: {} positions of {} dimensions.", table.shape[0], table.shape[1]);
  map.panels.push_back({{}, std::move(values)});
  return map;
}

Picture draw_positions(const ConstView& table, const std::string& title) {
  return draw_heatmap(positions_heatmap(table, title));
}

}  // namespace heed
