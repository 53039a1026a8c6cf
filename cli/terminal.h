// What the terminal behind standard output can show.
//
//   print(draw_in_terminal(map, terminal_of_output()));
#pragma once

#include "heed/viz/terminal_picture.h"

namespace heed::cli {

// The terminal's width, or where it does not tell COLUMNS, or 80. Colours where standard output is a terminal that has
// them (COLORTERM, TERM) and NO_COLOR is not set; blocks where the locale's characters are UTF-8.
Terminal terminal_of_output();

}  // namespace heed::cli
