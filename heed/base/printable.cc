#include "heed/base/printable.h"
#include "heed/base/utf8.h"

#include <fmt/core.h>

#include "heed/base/control_characters.h"

namespace heed {
namespace {

// Line ends, and the controls of the direction of writing.
bool reorders(std::string_view character) {
  return (character >= "\xE2\x80\xA8" && character <= "\xE2\x80\xAE") ||
         (character >= "\xE2\x81\xA6" && character <= "\xE2\x81\xA9");
}

std::string shown_as_bytes(std::string_view bytes) {
  std::string shown;
  for (const char byte : bytes) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return shown;
}

}  // namespace

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
    const bool plain = valid_utf8(character) && !has_control_character(character) && !reorders(character);
    const std::string piece = plain ? std::string(character) : shown_as_bytes(character);
    if (shown.size() + piece.size() > limit) return shown + "...";
    shown += piece;
    i += character.size();
  }
  return shown;
}

}  // namespace heed
