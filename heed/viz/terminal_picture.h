// A heat map in characters, for a terminal.
//
//   print(draw_in_terminal(attention_heatmap(trace, map), {.columns = 100, .colours = TerminalColours::full}));
#pragma once

#include <string>

#include "heed/viz/heatmap.h"

namespace heed {

enum class TerminalColours {
  none,     // cells are characters from light to dark
  palette,  // of the 256 that terminals have
  full,     // 24 bits
};

struct Terminal {
  Index columns = 80;
  TerminalColours colours = TerminalColours::none;
  bool blocks = true;  // without colours: blocks of four shades; otherwise ten characters of ASCII
};

// Draws each panel, one under the other: rows down the side, columns along the top, two characters to a cell or as many
// as a column's label needs where that fits. Labels along the top else stand on end, a character a line; where a script
// cannot, they are numbers that a list below explains. What is wider than the terminal is drawn in several bands. Wide
// characters (Chinese, Japanese, Korean) count as two. Text holds no control character, whatever the labels are. Throws
// heed::Error as draw_heatmap does.
std::string draw_in_terminal(Heatmap map, const Terminal& terminal);

}  // namespace heed
