// Pictures of matrices: scores, weights, masks with their numbers, and tables of position encodings.
//
//   save_picture(draw_matrix(scores, {.title = "q · k", .row_labels = queries, .column_labels = keys}), "scores.svg");
//   save_picture(draw_positions(table), "positions.png");
#pragma once

#include <string>
#include <vector>

#include "heed/tensor/view.h"
#include "heed/viz/heatmap.h"
#include "heed/viz/picture.h"

namespace heed {

struct MatrixOptions {
  std::string title{}, row_title{}, column_title{};
  std::vector<std::string> row_labels{}, column_labels{};  // empty: numbered from 0
  int digits = 2;
};

// Draws a matrix [R, C] of f32 or f64 with its values printed in the cells; the scale starts at 0, or is symmetric
// about it where a value is negative. Throws heed::Error for another rank or type, or labels of another number than
// rows or columns.
Picture draw_matrix(const ConstView& matrix, const MatrixOptions& options = {});

// What a picture of a table of position encodings [L, D] of f32 or f64 shows: dimensions along the top, positions down
// the side; for the sinusoids of Vaswani et al. 2017, section 3.5, the waves get longer from left to right. Throws as
// draw_matrix.
Heatmap positions_heatmap(const ConstView& table, const std::string& title = "Position encodings");

// Draws it.
Picture draw_positions(const ConstView& table, const std::string& title = "Position encodings");

}  // namespace heed
