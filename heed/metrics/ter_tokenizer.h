// The normalisation that TER's authors' program, tercom, applies before it counts edits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct TerOptions {
  bool normalized = false;     // set off punctuation, undo XML entities
  bool no_punct = false;       // drop punctuation: . , ? : ; ! " ( )
  bool asian_support = false;  // with normalized, split Chinese characters; with no_punct, drop East Asian punctuation
  bool case_sensitive = false;
};

// Returns the words of one line, as sacreBLEU's port of tercom gives them.
std::vector<std::u32string> ter_words(std::u32string_view line, const TerOptions& options);

}  // namespace heed
