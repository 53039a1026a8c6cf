// Text from anywhere, made fit to be shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// The text with every byte that is not UTF-8 and every character that would act instead of show replaced: control
// characters by their pictures (U+2400 and up), direction overrides, line separators and non-characters by U+FFFD. The
// result is valid UTF-8 and, once escaped, valid in XML 1.0.
std::string visible_text(std::string_view text);

// visible_text with & < > " ' written as references: safe as the content of an XML or HTML element and in a quoted
// attribute.
std::string escape_markup(std::string_view text);

// The text's first `count` code points, ended by "…" where more are lost; the text is valid UTF-8.
std::string shorten(std::string_view text, std::size_t count);

// The code points of valid UTF-8, each as its own bytes (views into the text).
std::vector<std::string_view> code_points(std::string_view text);

}  // namespace heed
