// Whether bytes are text, and how many characters it has.
#pragma once

#include <string_view>

#include "heed/base/index.h"

namespace heed {

// True if text is well-formed UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF). Where it is not and
// offset is given, *offset is the first byte that is wrong.
bool valid_utf8(std::string_view text, Index* offset = nullptr);

// The bytes of a character of well-formed text, by its first one.
inline std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// How many characters a well-formed text has.
Index count_code_points(std::string_view text);

}  // namespace heed
