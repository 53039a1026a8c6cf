// Standard output that notices when nobody reads it, or when the disk behind it is full.
#pragma once

#include <string_view>

namespace heed::cli {

// Writes to standard output; flushes. Throws heed::Error where it cannot.
void print(std::string_view text);
// print with a final newline.
void print_line(std::string_view text);

// Standard error is a terminal, so that progress may redraw a line.
bool error_is_terminal();

}  // namespace heed::cli
