// Characters of Unicode 15 and 16, which libraries here need not know, and the library of tokenizer.json does.
//
//   later_category(0x1FAE8) == "So";   // a shaking face
//   later_category(U'a').empty();
#pragma once

#include <string>
#include <string_view>

namespace heed {

// The general category of a character that Unicode 15 or 16 added; empty for any other.
std::string_view later_category(char32_t c);

// Whether well-formed UTF-8 holds one.
bool has_later_character(std::string_view text);

// A pattern of PCRE2's in which each property, which must stand in a class, has those of them that it is of: of
// categories, letters, cases, emoji and scripts. A library that knows them makes the same of both patterns.
std::string with_later_characters(std::string_view pattern);

}  // namespace heed
