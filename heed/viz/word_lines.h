// Lines between two columns of words; for the pictures of lines.
#pragma once

#include <cstddef>
#include <vector>

#include "heed/viz/canvas.h"
#include "heed/viz/heatmap.h"
#include "heed/viz/word_columns.h"

namespace heed {

inline constexpr double kLeastLineShare = 0.04;  // of the scale: what is weaker is not drawn

struct WordLine {
  double from = 0, to = 0;  // heights
  std::size_t panel = 0;    // whose colour it has
  double share = 0;         // of the map's scale, from kLeastLineShare to 1
};

// How a line gets darker and wider from nothing to the end of the scale.
struct WordLineLook {
  double palest = 0;                  // the least share of a colour
  double thinnest = 0, thickest = 0;  // where labels are of 11 points
};

// Throws heed::Error, as `caller`, for a scale that begins below zero.
void check_scale_of_lines(const Heatmap& map, const char* caller);

// The weakest first, so that the strongest lie on top; of very many the strongest alone.
void sort_lines(std::vector<WordLine>& lines);

void paint_lines(const std::vector<WordLine>& lines, const WordColumns& columns, const WordLineLook& look, double size,
                 Canvas& canvas);

}  // namespace heed
