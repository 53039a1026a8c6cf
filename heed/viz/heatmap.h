// Heat maps: matrices as coloured cells with labels, a colour scale and, where wanted, the numbers.
//
//   Heatmap map{.title = "xor", .row_labels = {"0", "1"}, .column_labels = {"0", "1"}, .panels = {{"", {0, 1, 1, 0}}}};
//   save_picture(draw_heatmap(std::move(map)), "xor.svg");
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/viz/figure_style.h"
#include "heed/viz/picture.h"

namespace heed {

// One matrix, or several of the same shape side by side under one scale, each with its title.
struct Heatmap {
  struct Panel {
    std::string title;          // shown where there are several
    std::vector<float> values;  // [rows, columns]
  };
  std::string title{}, subtitle{}, description{};
  std::string row_title{}, column_title{};
  std::vector<std::string> row_labels{}, column_labels{};  // one for each row and column: they define the shape
  std::vector<Panel> panels{};
  double least = 0, most = 1;  // the values at the ends of the scale; below zero the scale is the diverging one
  int digits = -1;             // digits after the point of the numbers in the cells; none where negative
  bool square = true;          // cells as high as wide, or fitted to a page
  bool scale = true;           // whether the colours' scale is shown
  double label_spacing = 0;    // labels at least this many points apart, where they are of 11 points
  FigureStyle style{};
};

// The smallest of 1, 1.5, 2, 2.5, 3, 4, 5, 6 and 8 times a power of ten that is at least `value`: the end of a scale
// that people can read. 1 for zero, less, infinity and NaN.
double round_scale(double value);

// Where a value lies between the ends of the map's scale, from 0 to 1; what lies beyond takes the nearest end. NaN for
// what is infinite or no number.
double scale_share(const Heatmap& map, double value);

// The colour of a value on the map's scale; grey for what is infinite or no number.
Colour cell_colour(const Heatmap& map, double value);

// Throws heed::Error for what draw_heatmap refuses.
void check_heatmap(const Heatmap& map);

// What paints the map, as a picture with its words: its title is the one that is shown, or else, for those who do not
// see it, the map's own.
Picture picture_of(const Heatmap& map, double width, double height, std::function<void(Canvas&)> paint);

// Draws the heat map: rows down the side, columns along the top, labels turned where they would touch. A label that is
// too long ends in "…"; where cells get too small for labels, every second, fifth, tenth ... one is shown, at a size
// that can be read. Titles are broken into lines. Values that are infinite or no number are grey. An SVG shows each
// cell's value at the mouse. Where the style has a width the picture is that wide, its cells what the labels leave, and
// the scale lies below them. Throws heed::Error for no panel or more than 64, no row or column, panels of another size
// than rows x columns, more than 4 million cells in all, an empty scale, and what check_style refuses.
Picture draw_heatmap(Heatmap heatmap);

}  // namespace heed
