// An explanation as text to read in a terminal.
//
//   std::fputs(to_text(explain_attention(two_by_two_inputs()), 3).c_str(), stdout);
#pragma once

#include <string>

#include "heed/tasks/explain/explanation.h"

namespace heed {

// The title and introduction, then for every step its number, name and title, the formula, the matrices with `digits`
// decimals, side by side where they fit in 100 columns, and the meaning. English words are ASCII. Ends in a newline.
// Large matrices are cut in the middle: see matrix_lines. No line is wider than 100 columns, but for shades.
std::string to_text(const Explanation& explanation, int digits);

}  // namespace heed
