// GPT-2's alphabet for bytes: each is a character that can be seen, so that any text is made of 256 characters.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Printable bytes of Latin-1 are themselves; the 68 others are U+0100 and up, in order.
std::string_view byte_character(unsigned char byte);
// The byte that the character stands for; -1 where it stands for none.
int byte_of_character(char32_t c);

// A character for each byte.
std::string bytes_as_characters(std::string_view bytes);
// The bytes of a text of such characters; the text as it is where one character is none of them.
std::string characters_as_bytes(std::string_view text);

}  // namespace heed
