#include "heed/text/tokenizer/character_map.h"

#include <cstring>

#include "heed/base/check.h"
#include "heed/text/sentencepiece_model_check.h"
#include "heed/unicode/normal_form.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

// A unit's label is its byte, or no byte in a leaf.
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FFU; }
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1U) != 0; }
std::uint32_t offset(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200U) >> 6); }

constexpr std::size_t kLongestGrapheme = 5;

// Characters that no other of ASCII joins.
bool stands_alone(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

CharacterMap::CharacterMap(std::string_view bytes, std::string_view name) {
  check_character_map(bytes, name);
  if (bytes.empty()) return;
  std::uint32_t trie_bytes = 0;
  std::memcpy(&trie_bytes, bytes.data(), sizeof trie_bytes);
  trie_.resize(trie_bytes / sizeof(std::uint32_t));
  std::memcpy(trie_.data(), bytes.data() + sizeof trie_bytes, trie_bytes);
  strings_ = bytes.substr(sizeof trie_bytes + trie_bytes);
  for (char c = ' '; c <= '~'; ++c) plain_ascii_ = plain_ascii_ && !rule_for({&c, 1});
}

std::optional<std::string_view> CharacterMap::rule_for(std::string_view text) const {
  if (trie_.empty()) return std::nullopt;
  std::uint32_t at = offset(trie_[0]);
  for (const char byte : text) {
    const auto c = static_cast<std::uint32_t>(static_cast<unsigned char>(byte));
    if (c == 0) break;
    at ^= c;
    const std::uint32_t unit = trie_[at];
    if (label(unit) != c) return std::nullopt;
    at ^= offset(unit);
    if (has_leaf(unit)) return std::string_view(strings_.c_str() + (trie_[at] & 0x7FFFFFFFU));
  }
  return std::nullopt;
}

void CharacterMap::apply_to(std::string_view grapheme, std::string& text) const {
  if (grapheme.size() <= kLongestGrapheme) {
    if (const auto rule = rule_for(grapheme)) {
      text += *rule;
      return;
    }
  }
  for_each_code_point(grapheme, [&](char32_t, std::string_view character) {
    const auto rule = rule_for(character);
    text += rule ? *rule : character;
  });
}

std::string CharacterMap::apply(std::string_view text) const {
  std::string replaced;
  replaced.reserve(text.size());
  // Between two of these there is always a break, and they have no rule.
  const auto alone = [&](std::size_t at) { return plain_ascii_ && stands_alone(text[at]); };
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t plain = at;
    while (plain < text.size() && alone(plain) && (plain + 1 == text.size() || alone(plain + 1))) ++plain;
    replaced.append(text, at, plain - at);
    if (plain == text.size()) break;
    std::size_t end = plain + 1;
    while (end < text.size() && !(alone(end - 1) && alone(end))) ++end;
    for_each_grapheme(text.substr(plain, end - plain),
                      [&](std::string_view grapheme) { apply_to(grapheme, replaced); });
    at = end;
  }
  return replaced;
}

}  // namespace heed
