#include "heed/text/tokenizer/byte_alphabet.h"

#include <algorithm>
#include <array>

#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr char32_t kFirstOther = 0x100, kOthers = 68;

bool is_itself(unsigned byte) { return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE; }

struct Alphabet {
  std::array<std::string, 256> characters;
  std::array<int, kFirstOther + kOthers> bytes;

  Alphabet() {
    bytes.fill(-1);
    char32_t next = kFirstOther;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char32_t c = is_itself(byte) ? byte : next++;
      append_utf8(c, characters[byte]);
      bytes[c] = static_cast<int>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet made;
  return made;
}

}  // namespace

std::string_view byte_character(unsigned char byte) { return alphabet().characters[byte]; }

int byte_of_character(char32_t c) { return c < alphabet().bytes.size() ? alphabet().bytes[c] : -1; }

std::string bytes_as_characters(std::string_view bytes) {
  const Alphabet& all = alphabet();
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) text += all.characters[static_cast<unsigned char>(byte)];
  return text;
}

std::string characters_as_bytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  bool all = true;
  for_each_code_point(text, [&](char32_t c, std::string_view) {
    const int byte = byte_of_character(c);
    all = all && byte >= 0;
    bytes += static_cast<char>(byte);
  });
  return all ? bytes : std::string(text);
}

}  // namespace heed
