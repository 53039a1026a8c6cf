// Attention as lines from the words that look to the words that they look at.
//
//   save_picture(draw_lines(attention_heatmap(trace, map, {.heads = {.mean = false, .chosen = {1, 5}}})), "lines.pdf");
#pragma once

#include "heed/viz/heatmap.h"

namespace heed {

// Draws the map's rows as words in the left column and its columns in the right one, with a line for each cell: the
// stronger the value, the darker and wider, against the end of the map's scale. Several panels are heads, each with its
// colour, named above. Lines below a twenty-fifth of the scale are left out, and of very many the weakest; what is
// infinite or no number has no line. Throws heed::Error as draw_heatmap does, for a scale that begins below zero, and
// where the style's width has no room for lines.
Picture draw_lines(Heatmap map);

}  // namespace heed
