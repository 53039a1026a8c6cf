#include "heed/base/control_characters.h"

namespace heed {

std::size_t control_character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(at) < 0x20 || byte(at) == 0x7F) return 1;
  const bool second = byte(at) == 0xC2 && at + 1 < text.size() && byte(at + 1) >= 0x80 && byte(at + 1) < 0xA0;
  return second ? 2 : 0;
}

bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (control_character_at(text, i) > 0) return true;
  }
  return false;
}

std::string without_control_characters(std::string_view text) {
  std::string visible;
  visible.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = control_character_at(text, i);
    visible += bytes > 0 ? ' ' : text[i];
    i += bytes > 0 ? bytes : 1;
  }
  return visible;
}

}  // namespace heed
