// What Python's str can do, of texts in UTF-8 that are counted in code points.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// Without the white space around it, or the characters of a set.
enum class Sides { left, right, both };
std::string stripped(std::string_view text, std::optional<std::string_view> characters, Sides sides);

std::string in_upper_case(std::string_view text);
std::string in_lower_case(std::string_view text);
// Of every word the first in upper case and the others in lower case; where a letter begins a word that follows none
// (str.title), or what is behind white space, "-" and an open bracket (Jinja's filter).
std::string in_title_case(std::string_view text);
std::string in_filters_title_case(std::string_view text);
std::string capitalized(std::string_view text);

// As str.split and str.rsplit, which without a separator split at white space; at most so often where that is not
// negative. Throws heed::Error for a separator that is empty.
std::vector<Value> split(Run& run, const std::string& text, std::optional<std::string_view> separator, Index most);
std::vector<Value> split_from_right(Run& run, const std::string& text, std::optional<std::string_view> separator,
                                    Index most);
// As str.splitlines.
std::vector<std::string> lines_of(std::string_view text, bool with_ends);
// The first `most` (if not negative) of what is in the text. An empty one stands between all characters.
std::string with_replaced(Run& run, std::string_view text, std::string_view from, std::string_view to, Index most);
// text % values, of which %s, %d, %i, %f, %x and %r are read, with a width, zeros and digits.
std::string formatted(Run& run, std::string_view text, const std::vector<Value>& values);
// text.format(...), of which {}, {0} and {name} are read.
std::string filled(Run& run, std::string_view text, const Arguments& values);

}  // namespace heed::jinja
