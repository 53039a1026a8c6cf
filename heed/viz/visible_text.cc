#include "heed/viz/visible_text.h"

#include <cstdint>

#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The length that a lead byte promises; 1 for a byte that is no lead.
std::size_t promised_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

std::uint32_t decode(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
  if (character.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0xFFu >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3F);
  return code;
}

bool acts_instead_of_showing(std::uint32_t code) {
  return (code >= 0x80 && code <= 0x9F) || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
         code == 0x2028 || code == 0x2029 || (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
}

void append_visible(std::string& out, std::string_view character) {
  const std::uint32_t code = decode(character);
  if (code < 0x20 || code == 0x7F) {
    const auto picture = static_cast<char>(code == 0x7F ? 0x21 : code);
    out += {'\xE2', '\x90', static_cast<char>('\x80' + picture)};  // U+2400 + code; U+2421 for delete
  } else if (acts_instead_of_showing(code)) {
    out += kReplacement;
  } else {
    out += character;
  }
}

}  // namespace

std::string visible_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = text.substr(0, promised_length(text.front()));
    if (valid_utf8(character)) {
      append_visible(out, character);
      text.remove_prefix(character.size());
    } else {
      out += kReplacement;
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (char c : visible_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  for (; count > 0 && bytes < text.size(); --count) bytes += promised_length(text[bytes]);
  return bytes < text.size() ? std::string(text.substr(0, bytes)) + "…" : std::string(text);
}

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  while (!text.empty()) {
    points.push_back(text.substr(0, promised_length(text.front())));
    text.remove_prefix(points.back().size());
  }
  return points;
}

}  // namespace heed
