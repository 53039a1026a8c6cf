#include "heed/text/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "heed/base/printable.h"
#include "heed/base/replace_all.h"
#include "heed/base/utf8.h"
#include "heed/unicode/unicode.h"

namespace heed::jinja {
namespace {

// The longer ones first.
constexpr std::array<std::string_view, 26> kSigns = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                     "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                     ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view first_character(std::string_view text) { return text.substr(0, utf8_length(text.front())); }
char32_t code_point(std::string_view character) {
  char32_t point = 0;
  for_each_code_point(character, [&](char32_t c, std::string_view) { point = c; });
  return point;
}

std::size_t blanks_before(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(code_point(first_character(text.substr(at))))) at += utf8_length(text[at]);
  return at;
}
std::string_view without_blanks_behind(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at])) {
    if (!is_space(code_point(first_character(text.substr(at))))) end = at + utf8_length(text[at]);
  }
  return text.substr(0, end);
}

// Every end of a line as "\n", and the last one left out.
std::string with_plain_lines(std::string_view source) {
  std::string text = replace_all(replace_all(std::string(source), "\r\n", "\n"), "\r", "\n");
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, Run& run) : source_(with_plain_lines(source)), left_(source_), run_(run) {}

  std::vector<Token> run() {
    while (!left_.empty()) outside();
    add(Token::Kind::end, "");
    return std::move(tokens_);
  }

 private:
  void add(Token::Kind kind, std::string_view text) { tokens_.push_back({kind, std::string(text), line_}); }
  // Goes on behind so many bytes.
  void pass(std::size_t bytes) {
    const std::string_view passed = left_.substr(0, bytes);
    line_ += static_cast<int>(std::ranges::count(passed, '\n'));
    run_.at_line(line_);
    if (!passed.empty()) begins_line_ = passed.back() == '\n';
    left_.remove_prefix(bytes);
  }

  void outside() {
    std::size_t begin = 0;
    for (;; ++begin) {
      begin = left_.find('{', begin);
      if (begin == left_.npos || begin + 1 == left_.size()) {
        add(Token::Kind::text, left_);
        pass(left_.size());
        return;
      }
      if (std::string_view("{%#").find(left_[begin + 1]) != std::string_view::npos) break;
    }
    const char kind = left_[begin + 1];
    const char mark = begin + 2 < left_.size() ? left_[begin + 2] : ' ';
    const std::string_view text = before_tag(left_.substr(0, begin), kind, mark);
    if (!text.empty()) add(Token::Kind::text, text);
    pass(begin + 2 + (mark == '-' || mark == '+' ? 1 : 0));
    if (kind == '#') {
      comment();
    } else if (kind == '%' && raw_begins()) {
      raw();
    } else {
      tag(kind == '{');
    }
  }

  // What is printed of a text that a tag follows.
  std::string_view before_tag(std::string_view text, char kind, char mark) const {
    if (mark == '-') return without_blanks_behind(text);
    if (mark == '+' || kind == '{') return text;
    const std::size_t last = text.rfind('\n');
    const std::size_t line = last == text.npos ? 0 : last + 1;
    if (line == 0 && !begins_line_) return text;
    return blanks_before(text.substr(line)) == text.size() - line ? text.substr(0, line) : text;
  }

  // Goes on behind the end of a tag, which lies at `at`: a mark, the sign of the end, and what of the text behind it is
  // dropped.
  void pass_end(std::size_t at, bool drops_line) {
    const char mark = left_[at];
    std::size_t end = at + (mark == '-' || mark == '+' ? 3 : 2);
    if (mark == '-') {
      end += blanks_before(left_.substr(end));
    } else if (mark != '+' && drops_line && end < left_.size() && left_[end] == '\n') {
      ++end;
    }
    pass(end);
  }
  // Where the end of a tag lies: its sign, or the mark before it.
  std::size_t with_mark(std::size_t sign) const {
    return sign > 0 && (left_[sign - 1] == '-' || left_[sign - 1] == '+') ? sign - 1 : sign;
  }

  void comment() {
    const std::size_t sign = left_.find("#}");
    if (sign == left_.npos) run_.refuse("a comment does not end");
    pass_end(with_mark(sign), true);
  }

  // A name in a tag of nothing else: where its end lies, if it is the next.
  std::size_t end_of_lone_tag(std::string_view text, std::string_view name) const {
    std::size_t at = blanks_before(text);
    if (!text.substr(at).starts_with(name)) return text.npos;
    at += name.size();
    at += blanks_before(text.substr(at));
    const std::string_view rest = text.substr(at);
    return rest.starts_with("%}") || rest.starts_with("-%}") || rest.starts_with("+%}") ? at : text.npos;
  }
  bool raw_begins() const { return end_of_lone_tag(left_, "raw") != left_.npos; }
  void raw() {
    pass_end(end_of_lone_tag(left_, "raw"), false);
    for (std::size_t begin = left_.find("{%"); begin != left_.npos; begin = left_.find("{%", begin + 1)) {
      const char mark = begin + 2 < left_.size() ? left_[begin + 2] : ' ';
      const std::size_t inside = begin + 2 + (mark == '-' || mark == '+' ? 1 : 0);
      const std::size_t end = end_of_lone_tag(left_.substr(std::min(inside, left_.size())), "endraw");
      if (end == left_.npos) continue;
      const std::string_view text = before_tag(left_.substr(0, begin), '%', mark);
      if (!text.empty()) add(Token::Kind::text, text);
      pass(inside);
      pass_end(end, true);
      return;
    }
    run_.refuse("'raw' does not end");
  }

  void tag(bool prints) {
    add(prints ? Token::Kind::print_begin : Token::Kind::tag_begin, "");
    const std::string_view end = prints ? "}}" : "%}";
    std::string open;  // brackets within which the end would not be one
    for (;;) {
      pass(blanks_before(left_));
      if (left_.empty()) run_.refuse("a tag does not end");
      const bool marked = left_.front() == '-' || (left_.front() == '+' && !prints);
      if (open.empty() && (left_.starts_with(end) || (marked && left_.substr(1).starts_with(end)))) break;
      token(open);
    }
    add(prints ? Token::Kind::print_end : Token::Kind::tag_end, "");
    pass_end(0, !prints);
  }

  void token(std::string& open) {
    const std::string_view character = first_character(left_);
    const char c = left_.front();
    if (c == '\'' || c == '"') {
      string(c);
    } else if (is_digit(c)) {
      number();
    } else if (is_word_character(code_point(character))) {
      std::size_t length = 0;
      while (length < left_.size() && is_word_character(code_point(first_character(left_.substr(length))))) {
        length += utf8_length(left_[length]);
      }
      take(Token::Kind::name, length);
    } else {
      const auto* const sign = std::ranges::find_if(kSigns, [&](std::string_view s) { return left_.starts_with(s); });
      if (sign == kSigns.end()) run_.refuse("'{}' is no sign of Jinja's", printable(character));
      balance(c, open);
      take(Token::Kind::sign, sign->size());
    }
  }
  void take(Token::Kind kind, std::size_t bytes) {
    add(kind, left_.substr(0, bytes));
    pass(bytes);
  }

  void balance(char c, std::string& open) const {
    if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) run_.refuse("'{}' closes what is not open", c);
      open.pop_back();
    }
  }

  void number() {
    std::size_t length = digits_at(0);
    bool is_whole = true;
    if (length + 1 < left_.size() && left_[length] == '.' && is_digit(left_[length + 1])) {
      length = digits_at(length + 1);
      is_whole = false;
    }
    std::size_t exponent = length;
    if (exponent < left_.size() && (left_[exponent] == 'e' || left_[exponent] == 'E')) {
      ++exponent;
      if (exponent < left_.size() && (left_[exponent] == '+' || left_[exponent] == '-')) ++exponent;
      if (exponent < left_.size() && is_digit(left_[exponent])) {
        length = digits_at(exponent);
        is_whole = false;
      }
    }
    std::string digits(left_.substr(0, length));
    std::erase(digits, '_');
    if (is_whole && digits.size() > 1 && digits.front() == '0') run_.refuse("a number begins with 0");
    add(is_whole ? Token::Kind::integer : Token::Kind::number, digits);
    pass(length);
    if (!left_.empty() && is_word_character(code_point(first_character(left_))))
      run_.refuse("a number ends in a letter");
  }
  std::size_t digits_at(std::size_t at) const {
    while (at < left_.size() &&
           (is_digit(left_[at]) || (left_[at] == '_' && at + 1 < left_.size() && is_digit(left_[at + 1])))) {
      ++at;
    }
    return at;
  }

  void string(char quote) {
    std::size_t end = 1;
    while (end < left_.size() && left_[end] != quote) end += left_[end] == '\\' ? 2 : 1;
    if (end >= left_.size()) run_.refuse("a string does not end");
    add(Token::Kind::string, said(left_.substr(1, end - 1)));
    pass(end + 1);
  }

  // What a string says, as Python's do.
  std::string said(std::string_view written) const {
    std::string text;
    while (!written.empty()) {
      const char c = written.front();
      written.remove_prefix(1);
      if (c == '\\') {
        escape(written, text);
      } else {
        text += c;
      }
    }
    return text;
  }
  void escape(std::string_view& rest, std::string& text) const {
    constexpr std::string_view kEscapes = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = rest.front();
    if (const std::size_t known = kEscapes.find(c); known != kEscapes.npos) {
      text += kMeanings[known];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      append_point(rest.substr(1, digits), digits, 16, text);
      rest.remove_prefix(digits);
    } else if (c >= '0' && c <= '7') {
      std::size_t digits = 1;
      while (digits < std::min<std::size_t>(3, rest.size()) && rest[digits] >= '0' && rest[digits] <= '7') ++digits;
      append_point(rest.substr(0, digits), digits, 8, text);
      rest.remove_prefix(digits - 1);
    } else if (c == 'N') {
      run_.refuse("a character is named in a string, which heed does not read");
    } else if (c != '\n') {
      text += '\\';
      text += c;
    }
    rest.remove_prefix(1);
  }
  void append_point(std::string_view digits, std::size_t count, int base, std::string& text) const {
    char32_t point = 0;
    for (const char c : digits) {
      const int digit = is_digit(c)                                    ? c - '0'
                        : std::isxdigit(static_cast<unsigned char>(c)) ? (c | 0x20) - 'a' + 10
                                                                       : 16;
      if (digit >= base) run_.refuse("an escape in a string wants {} digits", count);
      point = point * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
    }
    if (digits.size() < count) run_.refuse("an escape in a string wants {} digits", count);
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      run_.refuse("an escape in a string is of no character");
    append_utf8(point, text);
  }

  std::string source_;
  std::string_view left_;
  Run& run_;
  int line_ = 1;
  bool begins_line_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source, Run& run) {
  Index wrong = 0;
  if (!valid_utf8(source, &wrong)) run.refuse("byte {} of the template is not valid UTF-8", wrong);
  return Lexer(source, run).run();
}

}  // namespace heed::jinja
