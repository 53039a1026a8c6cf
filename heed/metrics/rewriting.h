// The few rewriting rules that the reference tokenizers write as regular expressions, over code points.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "heed/base/replace_all.h"

namespace heed {

// The four XML entities that the scorers undo, in their order (so that "&amp;lt;" becomes "<").
inline std::u32string replace_entities(std::u32string text) {
  text = replace_all(std::move(text), U"&quot;", U"\"");
  text = replace_all(std::move(text), U"&amp;", U"&");
  text = replace_all(std::move(text), U"&lt;", U"<");
  return replace_all(std::move(text), U"&gt;", U">");
}

// s/(c)/ $1 /g for each character c that `matches` holds for.
template <typename Predicate>
std::u32string surround_with_spaces(std::u32string_view text, Predicate matches) {
  std::u32string result;
  result.reserve(text.size());
  for (const char32_t c : text) {
    if (matches(c)) {
      (result += U' ') += c;
      result += U' ';
    } else {
      result += c;
    }
  }
  return result;
}

// Calls write(result, a, b) for each pair of neighbours with first(a) and second(b). As with a regular expression, a
// pair is consumed: its second character cannot begin the next one.
template <typename First, typename Second, typename Write>
std::u32string rewrite_pairs(std::u32string_view text, First first, Second second, Write write) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      write(result, text[i], text[i + 1]);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

// s/(a)(b)/$1 $2 /g
template <typename First, typename Second>
std::u32string set_off_second(std::u32string_view text, First first, Second second) {
  return rewrite_pairs(text, first, second, [](std::u32string& result, char32_t a, char32_t b) {
    result.append({a, U' ', b, U' '});
  });
}

// s/(a)(b)/ $1 $2/g
template <typename First, typename Second>
std::u32string set_off_first(std::u32string_view text, First first, Second second) {
  return rewrite_pairs(text, first, second, [](std::u32string& result, char32_t a, char32_t b) {
    result.append({U' ', a, U' ', b});
  });
}

// What mteval-v13a and tercom have in common for Western languages: ASCII punctuation stands alone, but for apostrophe,
// period, comma and dash; a period or comma stands alone unless digits surround it; a dash does after a digit.
inline bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
inline bool is_period_or_comma(char32_t c) { return c == U'.' || c == U','; }
inline bool is_separate_ascii(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') ||
         (c >= U':' && c <= U'@') || c == U'/';
}
inline std::u32string separate_western_numbers(std::u32string_view text) {
  const auto not_digit = [](char32_t c) { return !is_ascii_digit(c); };
  std::u32string result = set_off_second(text, not_digit, is_period_or_comma);
  result = set_off_first(result, is_period_or_comma, not_digit);
  return set_off_second(result, is_ascii_digit, [](char32_t c) { return c == U'-'; });
}

}  // namespace heed
