// Two columns of words with room between them for lines; for the pictures of lines.
#pragma once

#include <string>
#include <vector>

#include "heed/viz/canvas.h"
#include "heed/viz/figure_title.h"
#include "heed/viz/heatmap.h"

namespace heed {

struct WordColumns {
  FigureTitle title{};
  TextStyle left{}, right{}, heading{};
  std::vector<std::string> left_words{}, right_words{};  // shortened
  std::string left_heading{}, right_heading{};
  double left_edge = 0, right_edge = 0;         // where the words end, and begin
  double lines_begin = 0, lines_end = 0;        // between them
  double headings_y = 0, first = 0, pitch = 0;  // a baseline; the middle of the first row; of one row
  double beside = 0;                            // where what stands beside the right words begins
  double width = 0, height = 0;                 // of the picture

  double middle(std::size_t row) const { return first + static_cast<double>(row) * pitch; }
};

// Rows of the map in the left column, columns in the right one. `beside` points are kept free at the right of the
// words, and `above` between headings and words. Throws heed::Error where the style's width has no room for lines.
WordColumns lay_word_columns(const Heatmap& map, double beside, double above);

void paint_words(const WordColumns& columns, Canvas& canvas);

}  // namespace heed
