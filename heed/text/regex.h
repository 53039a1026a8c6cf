// Regular expressions over UTF-8, as tokenizers have them. The one door to PCRE2.
//
//   const Regex words(R"(\p{L}+|\p{N})", "tokenizer.json: pre_tokenizer");
//   words.for_each_match("Haus 12", [](std::size_t begin, std::size_t end) { ... });   // [0, 4), [5, 6), [6, 7)
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

// An expression in Oniguruma's notation (oniguruma_pattern.h), compiled to machine code where the machine allows it.
// May be used from many threads.
class Regex {
 public:
  // Throws heed::Error that begins with `name`, which is kept for the errors of for_each_match too.
  Regex(std::string_view pattern, std::string name);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  // Calls use(begin, end) for each match in well-formed UTF-8, from left to right; none overlaps another, and none is
  // empty at the end of the one before it. Throws heed::Error where a match takes more steps or memory than any sane
  // expression does.
  void for_each_match(std::string_view text, const std::function<void(std::size_t begin, std::size_t end)>& use) const;

  // Whether anything in well-formed UTF-8 matches.
  bool occurs_in(std::string_view text) const;

  // The bytes of the first match where that begins the text; 0 for any other.
  std::size_t match_at_start(std::string_view text) const;

  // The text with `content` in the place of each match.
  std::string replace(std::string_view text, std::string_view content) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace heed
