// A class of characters of PCRE2's, put together from sets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

// One character, or a set of them, inside a class.
struct ClassItem {
  std::optional<char32_t> character;
  std::string items;     // what stands in a class of PCRE2's, of a set
  bool negated = false;  // all others than those
};

// A set of characters, as parts of which each is one character's expression.
class CharacterSet {
 public:
  void add(std::string_view items) { items_ += items; }
  void add(const ClassItem& item) {
    if (item.negated) {
      parts_.push_back("[^" + item.items + "]");
    } else {
      items_ += item.items;
    }
  }
  void add_expression(std::string expression) { parts_.push_back(std::move(expression)); }

  // An expression of one character of the set; of one that is not in it where negated.
  std::string expression(bool negated) const {
    if (parts_.empty()) {
      if (items_.empty()) return negated ? "(?s:.)" : "(?!)";
      return (negated ? "[^" : "[") + items_ + "]";
    }
    std::string any = items_.empty() ? "" : "[" + items_ + "]";
    for (const std::string& part : parts_) any += (any.empty() ? "" : "|") + part;
    return negated ? "(?:(?!" + any + ")(?s:.))" : "(?:" + any + ")";
  }

 private:
  std::string items_;
  std::vector<std::string> parts_;
};

}  // namespace heed
