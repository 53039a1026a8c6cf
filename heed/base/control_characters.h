// Characters that steer a terminal instead of being seen: U+0000 to U+001F, U+007F, and U+0080 to U+009F.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// The bytes, 1 or 2, of the control character that begins at byte `at` of UTF-8 text; 0 where none does.
std::size_t control_character_at(std::string_view text, std::size_t at);

bool has_control_character(std::string_view text);

// The text with a space for each control character.
std::string without_control_characters(std::string_view text);

}  // namespace heed
