#include "heed/metrics/ter_tokenizer.h"

#include "heed/metrics/rewriting.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

bool is_within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_asian_punctuation(char32_t c) {
  return is_within(c, 0x3001, 0x3002) || is_within(c, 0x3008, 0x3011) || is_within(c, 0x3014, 0x301F) ||
         is_within(c, 0xFF61, 0xFF65) || c == 0x30FB;
}

bool is_full_width_punctuation(char32_t c) {
  return std::u32string_view(U"\uFF0E\uFF0C\uFF1F\uFF1A\uFF1B\uFF01\uFF02\uFF08\uFF09").find(c) !=
         std::u32string_view::npos;
}

// The characters that are words of their own: Chinese, and the blocks that belong to it. sacreBLEU's rules for kana are
// not among them: they ask for a text that is kana from its first character, and normalisation has put a space there.
bool is_asian_character(char32_t c) {
  return is_within(c, 0x2E80, 0x2EFF) || is_within(c, 0x31C0, 0x31EF) || is_within(c, 0x3200, 0x4DBF) ||
         is_within(c, 0x4E00, 0x9FFF) || is_within(c, 0xF900, 0xFAFF) || is_within(c, 0xFE30, 0xFE4F);
}

bool is_western_punctuation(char32_t c) {
  return std::u32string_view(U".,?:;!\"()").find(c) != std::u32string_view::npos;
}

std::u32string normalize(std::u32string_view line, bool asian_support) {
  std::u32string text = replace_all(std::u32string(line), U"\n-", U"");
  text = replace_all(std::move(text), U"\n", U" ");
  text = U" " + replace_entities(std::move(text)) + U" ";
  text = surround_with_spaces(text, is_separate_ascii);
  text = replace_all(std::move(text), U"'s ", U" 's ");
  text = separate_western_numbers(text);
  if (!asian_support) return text;
  return surround_with_spaces(text, [](char32_t c) {
    return is_asian_character(c) || is_asian_punctuation(c) || is_full_width_punctuation(c);
  });
}

}  // namespace

std::vector<std::u32string> ter_words(std::u32string_view line, const TerOptions& options) {
  std::u32string text(strip_right(line));
  if (!options.case_sensitive) text = to_lower(text);
  if (options.normalized) text = normalize(text, options.asian_support);
  if (options.no_punct) {
    std::erase_if(text, is_western_punctuation);
    if (options.asian_support) {
      std::erase_if(text, [](char32_t c) { return is_asian_punctuation(c) || is_full_width_punctuation(c); });
    }
  }
  return split_words(text);
}

}  // namespace heed
