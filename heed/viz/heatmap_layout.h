// Where the parts of a heat map lie; use heatmap.h.
#pragma once

#include <string>
#include <vector>

#include "heed/viz/canvas.h"
#include "heed/viz/figure_title.h"
#include "heed/viz/heatmap.h"

namespace heed {

// How the rows, or the columns, lie: every cell `cell` points apart, every `step`-th labelled.
struct HeatmapAxis {
  double cell = 0;
  Index step = 1;
  TextStyle style{};
  std::vector<std::string> labels{};  // shortened; empty where not shown
  double reach = 0;                   // how far the labels stand off the cells
  double overhang = 0;                // how far turned labels reach past the last cell
};

struct HeatmapLayout {
  HeatmapAxis rows, columns;
  FigureTitle title{};
  double number_size = 0;  // of the font in the cells; 0: none
  Index panels_across = 1;
  Point first_panel{};  // the top left cell's corner
  double panel_dx = 0, panel_dy = 0, panel_width = 0, panel_height = 0;
  double all_width = 0, all_height = 0;  // of the panels together
  double column_title_y = 0;             // baseline
  Point row_title{};                     // the middle of its baseline
  Box bar{};                             // the colour scale: beside the cells, or for paper below them
  double width = 0, height = 0;          // of the picture
};

// Throws heed::Error where the style's width has no room for cells.
HeatmapLayout lay_out(const Heatmap& map);

// The value as text, with this many digits after the point.
std::string number_text(double value, int digits);

}  // namespace heed
