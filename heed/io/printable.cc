#include "heed/io/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/file.h"

namespace heed {

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  std::size_t i = 0;
  while (i < text.size()) {
    // One UTF-8 character, or the one byte that does not begin one.
    std::size_t length = 1;
    while (length < 4 && i + length < text.size() && (static_cast<unsigned char>(text[i + length]) & 0xC0) == 0x80)
      ++length;
    std::string_view character = text.substr(i, length);
    if (!valid_utf8(character)) character = character.substr(0, 1);
    const unsigned char first = static_cast<unsigned char>(character[0]);
    const bool plain = first >= 0x20 && first != 0x7F && valid_utf8(character);
    const std::string piece = plain ? std::string(character) : fmt::format("\\x{:02x}", first);
    if (shown.size() + piece.size() > limit) return shown + "...";
    shown += piece;
    i += character.size();
  }
  return shown;
}

}  // namespace heed
