#include "heed/text/oniguruma_pattern.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/oniguruma_properties.h"
#include "heed/text/pcre_class.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr int kDeepest = 64;

class Translation {
 public:
  Translation(std::string_view pattern, std::string_view name) : pattern_(pattern), name_(name) {}

  std::string run() {
    Index bad = 0;
    HEED_CHECK(valid_utf8(pattern_, &bad), "{}: byte {} of the expression is not valid UTF-8", name_, bad);
    std::string translated = alternatives(0);
    if (at_ < pattern_.size()) refuse("a ')' that closes nothing");
    return translated;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail("{}: the regular expression '{}' has {} at byte {}", name_, printable(pattern_, 200), what, at_);
  }
  bool done() const { return at_ >= pattern_.size(); }
  bool next_is(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!next_is(text)) return false;
    at_ += text.size();
    return true;
  }
  char take_byte() {
    if (done()) refuse("an end where more must follow");
    return pattern_[at_++];
  }
  char32_t take_character() {
    if (done()) refuse("an end where more must follow");
    char32_t taken = 0;
    std::size_t length = 0;
    const auto lead = static_cast<unsigned char>(pattern_[at_]);
    length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    for_each_code_point(pattern_.substr(at_, length), [&](char32_t c, std::string_view) { taken = c; });
    at_ += length;
    return taken;
  }
  static std::string escaped(char32_t c) { return fmt::format("\\x{{{:X}}}", static_cast<std::uint32_t>(c)); }

  std::string alternatives(int depth) {
    if (depth > kDeepest) refuse("groups or classes nested too deep");
    std::string all;
    while (!done() && pattern_[at_] != ')') {
      if (passes_over()) continue;
      if (take("|")) {
        all += '|';
      } else {
        all += quantified(atom(depth));
      }
    }
    return all;
  }

  std::string atom(int depth) {
    switch (pattern_[at_]) {
      case '(':
        return group(depth);
      case '[':
        return character_class(depth);
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
        refuse("a quantifier of nothing");
      case '.':
      case '^':
      case '$':
        return std::string(1, pattern_[at_++]);
      default:
        return escaped(take_character());
    }
  }

  // "(?m:" dots match ends of lines: PCRE2's s. Its own m is always on.
  std::string flags() {
    std::string taken;
    while (!done() && (std::isalpha(static_cast<unsigned char>(pattern_[at_])) != 0 || pattern_[at_] == '-')) {
      const char flag = take_byte();
      if (flag != 'i' && flag != 'm' && flag != 'x' && flag != '-') refuse("an option that is not one of i, m and x");
      if (flag == 'x') extended_ = taken.find('-') == std::string::npos;
      if (flag != 'x') taken += flag == 'm' ? 's' : flag;
    }
    if (taken.ends_with('-')) taken.pop_back();
    return taken;
  }

  // White space and comments, which the option x passes over.
  bool passes_over() {
    if (!extended_) return false;
    if (pattern_[at_] == '#') {
      at_ = std::min(pattern_.find('\n', at_), pattern_.size());
      return true;
    }
    if (std::string_view(" \t\n\v\f\r").find(pattern_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  std::string group(int depth) {
    const bool extended = extended_;
    const std::string translated = opened_group(depth);
    extended_ = extended;
    return translated;
  }

  std::string opened_group(int depth) {
    ++at_;
    std::string opening = "(";
    if (take("?")) {
      opening += '?';
      if (take("#")) {
        while (take_byte() != ')') continue;
        return "";
      }
      if (take("<=") || take("<!") || take(":") || take("=") || take("!") || take(">")) {
        const std::size_t length = pattern_[at_ - 2] == '<' ? 2 : 1;
        opening += pattern_.substr(at_ - length, length);
      } else if (take("<") || take("'")) {
        const char close = pattern_[at_ - 1] == '<' ? '>' : '\'';
        opening += '<';
        for (char c = take_byte(); c != close; c = take_byte()) {
          if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') refuse("a name that is no word");
          opening += c;
        }
        opening += '>';
      } else {
        opening += flags();
        if (take(")")) {  // to the end of the group around it, over its alternatives too, as Oniguruma has it
          return opening + ":" + alternatives(depth + 1) + ")";
        }
        if (!take(":")) refuse("a group of a kind that is not supported");
        opening += ':';
      }
    } else if (next_is("*")) {
      refuse("a callout");
    }
    std::string inside = alternatives(depth + 1);
    if (!take(")")) refuse("a '(' that nothing closes");
    return opening + inside + ")";
  }

  // The numbers of "{2,3}" where that stands next.
  std::optional<std::string> interval() {
    std::size_t end = at_ + 1;
    const auto digits = [&] {
      const std::size_t begin = end;
      while (end < pattern_.size() && std::isdigit(static_cast<unsigned char>(pattern_[end])) != 0) ++end;
      return std::string(pattern_.substr(begin, end - begin));
    };
    const std::string least = digits();
    std::string numbers = least.empty() ? "0" : least;
    bool upper = false;
    if (end < pattern_.size() && pattern_[end] == ',') {
      ++end;
      const std::string most = digits();
      upper = !most.empty();
      numbers += "," + most;
    }
    if ((least.empty() && !upper) || end >= pattern_.size() || pattern_[end] != '}') return std::nullopt;
    at_ = end + 1;
    return "{" + numbers + "}";
  }

  std::string quantified(std::string one) {
    while (!done() && !one.empty()) {
      const char next = pattern_[at_];
      if (next == '*' || next == '+' || next == '?') {
        ++at_;
        one += next;
        if (take("?"))
          one += '?';
        else if (take("+"))
          one += '+';
      } else if (next == '{') {
        const std::optional<std::string> numbers = interval();
        if (!numbers) break;
        one += *numbers;
        const bool fixed = numbers->find(',') == std::string::npos;
        if (!fixed && take("?")) one += '?';
      } else {
        break;
      }
      if (!done() && std::string_view("*+?{").find(pattern_[at_]) != std::string_view::npos) {
        one = "(?:" + one + ")";
        if (one.size() > (std::size_t{1} << 16)) refuse("too many quantifiers");
      }
    }
    return one;
  }

  // Outside a class.
  std::string escape() {
    const std::size_t begin = at_;
    ++at_;
    const char c = take_byte();
    if (c == 'b' || c == 'B') return boundary(c == 'b');
    if (std::string_view("AzZGKR").find(c) != std::string_view::npos) return std::string("\\") + c;
    if (c == 'O') return "(?s:.)";
    if (c == 'N') return "\\N";
    if (c >= '1' && c <= '9') {
      std::string number(1, c);
      while (!done() && std::isdigit(static_cast<unsigned char>(pattern_[at_])) != 0) number += take_byte();
      return "\\g{" + number + "}";
    }
    if (c == 'k') {
      if (!take("<")) refuse("\\k without a name");
      std::string name;
      for (char letter = take_byte(); letter != '>'; letter = take_byte()) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '_') refuse("a name that is no word");
        name += letter;
      }
      return "\\k<" + name + ">";
    }
    if (c == 'g') refuse("a call of a group");
    if (c == 'X' || c == 'y' || c == 'Y') refuse(fmt::format("\\{}, of which PCRE2 has another meaning or none", c));
    at_ = begin;
    const ClassItem item = class_escape();
    if (item.character) return escaped(*item.character);
    CharacterSet set;
    set.add(item.items == kOnigurumaWord ? kOnigurumaWordAlone : item.items);
    return set.expression(item.negated);
  }

  // PCRE2's own has other word characters.
  static std::string boundary(bool there) {
    const std::string word = "[" + std::string(kOnigurumaWordAlone) + "]";
    const std::string behind = "(?<=" + word + ")", not_behind = "(?<!" + word + ")";
    const std::string ahead = "(?=" + word + ")", not_ahead = "(?!" + word + ")";
    return there ? "(?:" + behind + not_ahead + "|" + not_behind + ahead + ")"
                 : "(?:" + behind + ahead + "|" + not_behind + not_ahead + ")";
  }

  char32_t hexadecimal(std::size_t least, std::size_t most) {
    std::uint32_t value = 0;
    std::size_t digits = 0;
    for (; digits < most && !done() && std::isxdigit(static_cast<unsigned char>(pattern_[at_])) != 0; ++digits) {
      const char c = take_byte();
      value = value * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (digits < least || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) refuse("no code point");
    return value;
  }

  // What "\..." is, inside a class or out of it.
  ClassItem class_escape() {
    ++at_;
    const char c = pattern_[at_ < pattern_.size() ? at_ : at_ - 1];
    if (static_cast<unsigned char>(c) >= 0x80) return {take_character(), {}};
    take_byte();
    switch (c) {
      case 's':
      case 'S':
        return {{}, std::string(kOnigurumaSpace), c == 'S'};
      case 'w':
      case 'W':
        return {{}, std::string(kOnigurumaWord), c == 'W'};
      case 'd':
      case 'D':
        return {{}, "\\p{Nd}", c == 'D'};
      case 'h':
      case 'H':
        return {{}, std::string(kOnigurumaHexDigits), c == 'H'};
      case 'p':
      case 'P':
        return property(c == 'P');
      case 'n':
        return {U'\n', {}};
      case 't':
        return {U'\t', {}};
      case 'r':
        return {U'\r', {}};
      case 'f':
        return {U'\f', {}};
      case 'v':
        return {U'\v', {}};
      case 'a':
        return {U'\a', {}};
      case 'b':
        return {U'\b', {}};
      case 'e':
        return {U'\x1B', {}};
      case 'u':
        return {hexadecimal(4, 4), {}};
      case 'x':
        if (take("{")) {
          const char32_t value = hexadecimal(1, 8);
          if (!take("}")) refuse("\\x{ without an end");
          return {value, {}};
        }
        return {hexadecimal(1, 2), {}};
      case '0': {
        char32_t value = 0;
        for (int i = 0; i < 2 && !done() && pattern_[at_] >= '0' && pattern_[at_] <= '7'; ++i)
          value = value * 8 + static_cast<char32_t>(take_byte() - '0');
        return {value, {}};
      }
      case 'c':
      case 'C':
      case 'M':
        refuse("a control or meta escape");
      default:
        return {static_cast<char32_t>(c), {}};
    }
  }

  ClassItem property(bool negated) {
    if (!take("{")) refuse("\\p without {");
    if (take("^")) negated = !negated;
    std::string spelled, plain;
    for (char c = take_byte(); c != '}'; c = take_byte()) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
          std::string_view("_- &").find(c) == std::string_view::npos)
        refuse("a property that is no name");
      spelled += c;
      if (c != '_' && c != '-' && c != ' ') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (plain.empty()) refuse("a property without a name");
    ClassItem item = property_class(plain);
    item.negated = item.negated != negated;
    return item;
  }

  // "[...]", with what is nested in it.
  std::string character_class(int depth) {
    if (depth > kDeepest) refuse("groups or classes nested too deep");
    ++at_;
    const bool negated = take("^");
    std::vector<std::string> intersected;  // what stands before each &&
    CharacterSet set;
    for (bool first = true; first || !next_is("]"); first = false) {
      if (done()) refuse("a '[' that nothing closes");
      if (take("&&")) {
        intersected.push_back(set.expression(false));
        set = {};
      } else if (next_is("[:")) {
        set.add(posix_bracket());
      } else if (next_is("[")) {
        set.add_expression(character_class(depth + 1));
      } else {
        add_range(set);
      }
    }
    ++at_;
    if (intersected.empty()) return set.expression(negated);
    std::string all = set.expression(false);
    for (const std::string& one : intersected) all = "(?=" + one + ")" + all;
    return negated ? "(?:(?!" + all + ")(?s:.))" : "(?:" + all + ")";
  }

  ClassItem posix_bracket() {
    const std::size_t end = pattern_.find(":]", at_);
    if (end == std::string_view::npos) refuse("a '[:' without ':]'");
    std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    std::optional<ClassItem> item = posix_class(name);
    if (!item) refuse("a [:name:] that is not known");
    at_ = end + 2;
    item->negated = item->negated != negated;
    return *item;
  }

  ClassItem class_item() { return next_is("\\") ? class_escape() : ClassItem{take_character(), {}}; }

  void add_range(CharacterSet& set) {
    const ClassItem first = class_item();
    if (!first.character) {
      set.add(first);
      return;
    }
    const bool ranges = next_is("-") && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']';
    if (!ranges) {
      set.add(escaped(*first.character));
      return;
    }
    ++at_;
    const ClassItem last = class_item();
    if (!last.character) {  // "a-\d" is a, - and the digits
      set.add(escaped(*first.character) + "\\-");
      set.add(last);
      return;
    }
    if (*last.character < *first.character) refuse("a range whose end is before its start");
    set.add(escaped(*first.character) + "-" + escaped(*last.character));
  }

  std::string_view pattern_, name_;
  std::size_t at_ = 0;
  bool extended_ = false;  // the option x
};

}  // namespace

std::string pcre_pattern(std::string_view oniguruma, std::string_view name) {
  return Translation(oniguruma, name).run();
}

}  // namespace heed
