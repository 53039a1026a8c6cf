// Standard output that notices when nobody reads it, or when the disk behind it is full; and messages and progress, on
// standard error.
#pragma once

#include <string>
#include <string_view>

namespace heed::cli {

// Writes to standard output. Throws heed::Error where it cannot.
void print(std::string_view text);
// print with a final newline.
void print_line(std::string_view text);

// Writes "heed: message" to standard error: one line, cut where it is very long, which cannot steer a terminal whatever
// the message holds.
void print_message(std::string_view message);
// The same of a lack of memory. Allocates nothing.
void print_out_of_memory();
// Writes to standard error what is no message: progress. Where it cannot, nobody sees it.
void print_progress(std::string_view text);
// Draws a line of progress on the terminal that standard error is. Whatever is printed on it next takes its place; an
// empty one removes it.
void draw_progress(std::string_view line);

// A path or another argument, for a line on standard output.
std::string shown(std::string_view argument);

// Standard error is a terminal, so that progress may redraw a line.
bool error_is_terminal();

}  // namespace heed::cli
