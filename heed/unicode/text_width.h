// How wide text stands on a terminal, where Chinese, Japanese and Korean characters take two columns, and paragraphs
// broken into lines of such a width.
//
//   text_columns("查询 q") == 6;
//   for (const std::string& line : wrap_text(paragraph, 80)) print(line);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed {

// The columns of well-formed UTF-8: two for a wide character (East Asian Width W and F), none for a mark that stands on
// another character and for what is not to be seen, one for every other.
Index text_columns(std::string_view text);

// Breaks a paragraph of well-formed UTF-8 into lines of at most `columns`: at spaces, which are dropped there, and
// beside wide characters, but never so that a line begins with closing punctuation or ends with opening punctuation
// (，。） and （《 may not part from their text). What has no place to break at may be wider. No line is empty.
std::vector<std::string> wrap_text(std::string_view paragraph, Index columns);

}  // namespace heed
