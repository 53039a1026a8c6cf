// A figure of one attention map, for a page of paper or a screen: a heat map, lines between words, what one word reads,
// or that over the picture that was read.
//
//   save_picture(draw_figure(trace, map, {.lines = true, .style = {.width = read_length("8cm")}}), "lines.pdf");
#pragma once

#include <optional>
#include <string>

#include "heed/observe/trace.h"
#include "heed/viz/figure_style.h"
#include "heed/viz/head_choice.h"
#include "heed/viz/picture.h"

namespace heed {

struct AttentionFigure {
  HeadChoice heads{};
  bool lines = false;                 // in place of cells
  std::optional<std::string> word{};  // what this query alone reads, as find_word has it
  FigureStyle style{};
};

// Over the picture of a trace that has one and whose keys are its patches: where a word looks, each word of a caption,
// or what a class is told by. Throws heed::Error as attention_heatmap, draw_lines, draw_reading, find_word and
// draw_picture_attention do, and for lines to patches.
Picture draw_figure(const AttentionTrace& trace, const AttentionTrace::Map& map, const AttentionFigure& figure = {});

}  // namespace heed
