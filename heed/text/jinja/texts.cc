#include "heed/text/jinja/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/jinja/operators.h"
#include "heed/text/jinja/printing.h"
#include "heed/unicode/unicode.h"

namespace heed::jinja {
namespace {

constexpr Index kWidest = 10'000;  // of a number that is filled up

std::u32string points(std::string_view text) { return decode_utf8(text, "a template's text"); }
bool has_case(char32_t c) {
  const std::u32string_view text(&c, 1);
  return to_upper(text) != text || to_lower(text) != text;
}

// What is behind the blanks that a text begins with.
std::u32string_view behind_blanks(std::u32string_view text) {
  const auto* const begin = std::ranges::find_if_not(text, [](char32_t c) { return is_space(c); });
  return text.substr(static_cast<std::size_t>(begin - text.begin()));
}

std::vector<Value> split_at_blanks(std::string_view text, Index most) {
  const std::u32string all = points(text);
  std::u32string_view rest = behind_blanks(all);
  std::vector<Value> words;
  while (!rest.empty()) {
    if (most >= 0 && std::ssize(words) == most) {  // the rest, with the blanks in it and behind it
      words.emplace_back(encode_utf8(rest));
      break;
    }
    const auto* const end = std::ranges::find_if(rest, [](char32_t c) { return is_space(c); });
    const auto length = static_cast<std::size_t>(end - rest.begin());
    words.emplace_back(encode_utf8(rest.substr(0, length)));
    rest = behind_blanks(rest.substr(length));
  }
  return words;
}

std::vector<Value> split_at_blanks_from_right(std::string_view text, Index most) {
  const std::u32string all = points(text);
  std::u32string_view rest = strip_right(all);
  std::vector<Value> words;
  while (!behind_blanks(rest).empty()) {
    if (most >= 0 && std::ssize(words) == most) {
      words.emplace_back(encode_utf8(rest));
      break;
    }
    std::size_t begin = rest.size();
    while (begin > 0 && !is_space(rest[begin - 1])) --begin;
    words.emplace_back(encode_utf8(rest.substr(begin)));
    rest = strip_right(rest.substr(0, begin));
  }
  std::ranges::reverse(words);
  return words;
}

bool ends_line(char32_t c) {
  return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

// What a "%" in a text is followed by.
struct Conversion {
  bool zeros = false, left = false, sign = false;
  Index width = 0;
  std::optional<Index> digits;
  char kind = 0;
};

Index taken_number(Run& run, std::string_view& rest) {
  Index number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (error == std::errc::result_out_of_range || number > kWidest) run.refuse("a width of more than {}", kWidest);
  return number;
}

Conversion taken_conversion(Run& run, std::string_view& rest) {
  Conversion one;
  for (; !rest.empty() && std::string_view("0-+").find(rest.front()) != std::string_view::npos; rest.remove_prefix(1)) {
    (rest.front() == '0' ? one.zeros : rest.front() == '-' ? one.left : one.sign) = true;
  }
  one.width = taken_number(run, rest);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    one.digits = taken_number(run, rest);
  }
  if (rest.empty()) run.refuse("a format ends behind '%'");
  one.kind = rest.front();
  rest.remove_prefix(1);
  return one;
}

std::string converted(Run& run, const Conversion& how, const Value& value) {
  std::string text;
  if (how.kind == 's' || how.kind == 'r') {
    text = how.kind == 's' ? printed(run, value) : represented(run, value);
    if (how.digits)
      text = encode_utf8(std::u32string_view(points(text)).substr(0, static_cast<std::size_t>(*how.digits)));
  } else if (std::string_view("dixf").find(how.kind) != std::string_view::npos) {
    if (!value.is_number()) run.refuse("'%{}' is for a number, and not {}", how.kind, type_name(value));
    if (how.kind == 'f') {
      text = fmt::format("{:.{}f}", value.number(), how.digits.value_or(6));
    } else {
      if (!value.is_integer() && !(std::abs(value.number()) < 9e18))
        run.refuse("'%{}' is for a whole number", how.kind);
      const std::int64_t whole = value.is_integer() ? value.integer() : static_cast<std::int64_t>(value.number());
      text = how.kind == 'x' ? fmt::format("{:x}", whole) : fmt::format("{}", whole);
    }
    if (how.sign && !text.starts_with('-')) text.insert(0, 1, '+');
    if (how.zeros && !how.left && std::ssize(text) < how.width) {
      const std::size_t begin = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
      text.insert(begin, static_cast<std::size_t>(how.width) - text.size(), '0');
    }
  } else {
    run.refuse("the format '%{}' is not read here", printable(std::string_view(&how.kind, 1)));
  }
  const Index missing = how.width - count_code_points(text);
  if (missing > 0) text.insert(how.left ? text.size() : 0, static_cast<std::size_t>(missing), ' ');
  return text;
}

}  // namespace

std::string stripped(std::string_view text, std::optional<std::string_view> characters, Sides sides) {
  const std::u32string all = points(text);
  const std::u32string set = characters ? points(*characters) : std::u32string();
  const auto goes = [&](char32_t c) { return characters ? set.find(c) != set.npos : is_space(c); };
  std::u32string_view rest = all;
  while (sides != Sides::right && !rest.empty() && goes(rest.front())) rest.remove_prefix(1);
  while (sides != Sides::left && !rest.empty() && goes(rest.back())) rest.remove_suffix(1);
  return encode_utf8(rest);
}

std::string in_upper_case(std::string_view text) { return encode_utf8(to_upper(std::u32string_view(points(text)))); }
std::string in_lower_case(std::string_view text) { return encode_utf8(to_lower(std::u32string_view(points(text)))); }

std::string in_title_case(std::string_view text) {
  std::u32string all = points(text);
  bool in_word = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const char32_t c = all[i];
    char32_t second = 0;
    all[i] = in_word ? to_lower(c, &second) : to_upper(c);
    in_word = has_case(c);
  }
  return encode_utf8(all);
}

std::string in_filters_title_case(std::string_view text) {
  const std::u32string all = points(text);
  std::u32string result;
  const auto separates = [](char32_t c) {
    return is_space(c) || std::u32string_view(U"-({[<").find(c) != std::u32string_view::npos;
  };
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin + 1;
    while (end < all.size() && separates(all[end]) == separates(all[begin])) ++end;
    result += to_upper(std::u32string_view(all).substr(begin, 1));
    result += to_lower(std::u32string_view(all).substr(begin + 1, end - begin - 1));
    begin = end;
  }
  return encode_utf8(result);
}

std::string capitalized(std::string_view text) {
  const std::u32string all = points(text);
  const std::u32string_view view = all;
  return all.empty() ? std::string() : encode_utf8(to_upper(view.substr(0, 1)) + to_lower(view.substr(1)));
}

std::vector<Value> split(Run& run, const std::string& text, std::optional<std::string_view> separator, Index most) {
  run.spend_on_text(text.size());
  if (!separator) return split_at_blanks(text, most);
  if (separator->empty()) run.refuse("an empty separator");
  std::vector<Value> parts;
  std::string_view rest = text;
  while (most < 0 || std::ssize(parts) < most) {
    const std::size_t at = rest.find(*separator);
    if (at == rest.npos) break;
    run.spend(1);
    parts.emplace_back(rest.substr(0, at));
    rest.remove_prefix(at + separator->size());
  }
  parts.emplace_back(rest);
  return parts;
}

std::vector<Value> split_from_right(Run& run, const std::string& text, std::optional<std::string_view> separator,
                                    Index most) {
  run.spend_on_text(text.size());
  if (!separator) return split_at_blanks_from_right(text, most);
  if (separator->empty()) run.refuse("an empty separator");
  std::vector<Value> parts;
  std::string_view rest = text;
  while (most < 0 || std::ssize(parts) < most) {
    const std::size_t at = rest.rfind(*separator);
    if (at == rest.npos) break;
    run.spend(1);
    parts.emplace_back(rest.substr(at + separator->size()));
    rest = rest.substr(0, at);
  }
  parts.emplace_back(rest);
  std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string> lines_of(std::string_view text, bool with_ends) {
  const std::u32string all = points(text);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && !ends_line(all[end])) ++end;
    std::size_t next = std::min(end + 1, all.size());
    if (next < all.size() && all[end] == '\r' && all[next] == '\n') ++next;
    lines.push_back(encode_utf8(std::u32string_view(all).substr(begin, (with_ends ? next : end) - begin)));
    begin = next;
  }
  return lines;
}

std::string with_replaced(Run& run, std::string_view text, std::string_view from, std::string_view to, Index most) {
  std::string result;
  Index count = 0;
  for (std::size_t at = 0;;) {
    const std::size_t found = most >= 0 && count >= most ? text.npos : text.find(from, at);
    if (found == text.npos) {
      result += text.substr(std::min(at, text.size()));
      break;
    }
    ++count;
    run.spend_on_text(found - at + to.size() + Run::kBytesOfStep);
    result.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
    if (!from.empty()) continue;
    if (at == text.size()) break;
    const std::size_t length = utf8_length(text[at]);
    result += text.substr(at, length);
    at += length;
  }
  run.spend_on_text(result.size());
  return result;
}

std::string formatted(Run& run, std::string_view text, const std::vector<Value>& values) {
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t sign = std::min(text.find('%'), text.size());
    result += text.substr(0, sign);
    text.remove_prefix(sign);
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.starts_with('%')) {
      text.remove_prefix(1);
      result += '%';
      continue;
    }
    const Conversion how = taken_conversion(run, text);
    if (used == values.size()) run.refuse("a format has more places than there are values");
    result += converted(run, how, values[used++]);
    run.spend_on_text(static_cast<std::size_t>(how.width) + Run::kBytesOfStep);
  }
  if (used < values.size() && !(values.size() == 1 && values[0].as_dict() != nullptr)) {
    run.refuse("a format has fewer places than there are values");
  }
  run.spend_on_text(result.size());
  return result;
}

std::string filled(Run& run, std::string_view text, const Arguments& values) {
  std::string result;
  std::size_t next = 0;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '{' && c != '}') {
      result += c;
      continue;
    }
    if (text.starts_with(c)) {  // twice: itself
      text.remove_prefix(1);
      result += c;
      continue;
    }
    const std::size_t end = text.find('}');
    if (c == '}' || end == text.npos) run.refuse("format: a single '{}'", c);
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (field.find_first_of(".[:!{") != field.npos) run.refuse("format: '{{{}}}' is not read here", printable(field));
    const auto named =
        std::ranges::find(values.named, field, [](const auto& one) { return std::string_view(one.first); });
    std::size_t index = next;
    if (field.empty()) {
      ++next;
    } else {
      const auto [last, error] = std::from_chars(field.data(), field.data() + field.size(), index);
      if (error != std::errc() || last != field.data() + field.size()) index = values.positional.size();
    }
    const bool is_named = named != values.named.end();
    if (!is_named && index >= values.positional.size()) run.refuse("format: no value for '{{{}}}'", printable(field));
    result += printed(run, is_named ? named->second : values.positional[index]);
    run.spend(1);
  }
  run.spend_on_text(result.size());
  return result;
}

}  // namespace heed::jinja
