// "Replace" of tokenizer.json: each match of a text, or of a regular expression, becomes another text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/io/json.h"
#include "heed/text/regex.h"

namespace heed {

// What is looked for: {"String": "..."} or {"Regex": "..."}.
class Pattern {
 public:
  // Throws heed::Error naming the place.
  explicit Pattern(const Json& json);

  // Calls use(begin, end) for each match, from left to right.
  void for_each_match(std::string_view text, const std::function<void(std::size_t begin, std::size_t end)>& use) const;
  // The bytes of the first match where that begins the text; 0 for any other.
  std::size_t match_at_start(std::string_view text) const;

 private:
  std::string text_;
  std::optional<Regex> regex_;
};

class Replacement {
 public:
  // {"pattern": ..., "content": "..."}
  explicit Replacement(const Json& json);
  std::string apply(std::string_view text) const;
  // Whether what stands for the text's first character is not told from what stands for the next: a match of several
  // characters, or one in whose place nothing is.
  bool loses_first(std::string_view text) const;

 private:
  Pattern pattern_;
  std::string content_;
};

}  // namespace heed
