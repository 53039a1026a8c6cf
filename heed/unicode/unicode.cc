#include "heed/unicode/unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/index.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

// Unicode 15, D135: letters with case, and what else has a partner in the other case, such as Roman numerals.
bool is_cased(char32_t c) {
  const utf8proc_category_t kind = category(c);
  const auto point = static_cast<utf8proc_int32_t>(c);
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL || kind == UTF8PROC_CATEGORY_LT || c == 0xAA ||
         c == 0xBA || utf8proc_tolower(point) != point || utf8proc_toupper(point) != point;
}

// Unicode 15, D136: what a word's case looks through, such as accents and apostrophes.
bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return std::u32string_view(
                 U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A")
                 .find(c) != std::u32string_view::npos;
  }
}

// Unicode 15, table 3-17 (Final_Sigma): a cased letter stands before text[i], and none after it, in the same word.
bool ends_word(std::u32string_view text, std::size_t i) {
  std::size_t before = i;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = i + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace

std::u32string decode_utf8(std::string_view text, std::string_view name) {
  Index wrong = 0;
  HEED_CHECK(valid_utf8(text, &wrong), "{}: byte {} is not valid UTF-8", name, wrong);
  std::u32string decoded;
  decoded.reserve(text.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t used = utf8proc_iterate(bytes, left, &c);
    HEED_CHECK(used > 0, "{}: byte {} is not valid UTF-8", name, static_cast<Index>(text.size()) - left);
    decoded.push_back(static_cast<char32_t>(c));
    bytes += used;
    left -= used;
  }
  return decoded;
}

std::string encode_utf8(std::u32string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char32_t c : text) append_utf8(c, encoded);
  return encoded;
}

void append_utf8(char32_t c, std::string& text) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t used = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(used));
}

bool is_punctuation(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_symbol(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_SM && kind <= UTF8PROC_CATEGORY_SO;
}

bool is_number(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_letter(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_mark(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_invisible(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO;
}

bool is_word_character(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:  // the joiners, and the letters in circles and squares, which are symbols and alphabetic
      return c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  }
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0D) || c == ' ';
  if (c == 0x85) return true;
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

char32_t to_lower(char32_t c, char32_t* second) {
  *second = c == 0x0130 ? 0x0307 : 0;
  return c == 0x0130 ? U'i' : static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

bool is_space(char32_t c) {
  if ((c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || c == U' ' || c == 0x85) return true;
  if (c < 0x80) return false;
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

char32_t to_upper(char32_t c) {
  return c == 0xDF ? c : static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

std::u32string to_upper(std::u32string_view text) {
  std::u32string upper;
  for (const char32_t c : text) {
    if (c == 0xDF) {
      upper += U"SS";
    } else {
      upper += to_upper(c);
    }
  }
  return upper;
}

std::u32string to_lower(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 0x0130) {
      lower += U"i\u0307";
    } else if (text[i] == 0x03A3) {
      lower.push_back(ends_word(text, i) ? 0x03C2 : 0x03C3);
    } else {
      lower.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(text[i]))));
    }
  }
  return lower;
}

std::u32string_view strip_right(std::u32string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::u32string> split_words(std::u32string_view text) {
  std::vector<std::u32string> words;
  auto begin = std::find_if_not(text.begin(), text.end(), is_space);
  while (begin != text.end()) {
    const auto end = std::find_if(begin, text.end(), is_space);
    words.emplace_back(begin, end);
    begin = std::find_if_not(end, text.end(), is_space);
  }
  return words;
}

}  // namespace heed
