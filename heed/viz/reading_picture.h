// What one word reads, by each head in its colour: the picture of every tutorial.
//
//   const Heatmap heads = attention_heatmap(trace, map, {.heads = {.mean = false}});
//   save_picture(draw_reading(heads, find_word(trace.query_side(map.kind), "it")), "it.svg");
#pragma once

#include <span>

#include "heed/viz/heatmap.h"

namespace heed {

// The mean of some rows, the pieces of one word or a single one, as the one row of each panel. Throws heed::Error for
// no row or one that is not there, and as draw_heatmap does.
Heatmap reading_of(Heatmap map, std::span<const Index> rows);

// Draws what some rows read: the words of both sides, lines from these rows to all that they read (reading_of), in the
// colour of each panel's head, and beside each word on the right a cell for each head, grey for what is infinite or no
// number. Throws heed::Error as draw_lines and reading_of do.
Picture draw_reading(Heatmap map, std::span<const Index> rows);

}  // namespace heed
