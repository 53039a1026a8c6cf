// Standard output that notices when nobody reads it, or when the disk behind it is full; and messages, on standard
// error.
#pragma once

#include <string>
#include <string_view>

namespace heed::cli {

// Writes to standard output; flushes. Throws heed::Error where it cannot.
void print(std::string_view text);
// print with a final newline.
void print_line(std::string_view text);

// Writes "heed: message" to standard error: one line, cut where it is very long, which cannot steer a terminal whatever
// the message holds.
void print_message(std::string_view message);

// A path or another argument, for a line on standard output.
std::string shown(std::string_view argument);

// Standard error is a terminal, so that progress may redraw a line.
bool error_is_terminal();

}  // namespace heed::cli
