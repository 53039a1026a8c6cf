#include "heed/viz/find_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "heed/base/blanks.h"
#include "heed/base/check.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

std::string without_marker(std::string_view token) {
  if (token.starts_with(kSpaceMark)) token.remove_prefix(kSpaceMark.size());
  return std::string(token);
}

// The n-th word of this text; null where there are fewer.
const TraceWord* nth(const std::vector<TraceWord>& words, std::string_view text, Index n) {
  for (const TraceWord& word : words) {
    if (word.text == text && --n == 0) return &word;
  }
  return nullptr;
}

std::string list_of(const std::vector<TraceWord>& words) {
  constexpr std::size_t kMostListed = 30;
  std::string list;
  for (std::size_t i = 0; i < std::min(words.size(), kMostListed); ++i) {
    list += (i == 0 ? "" : " ") + visible_text(words[i].text);
  }
  return list + (words.size() > kMostListed ? " ..." : "");
}

}  // namespace

std::vector<TraceWord> trace_words(const TraceSide& side) {
  std::vector<TraceWord> words;
  Index last = -1;
  for (Index i = 0; i < side.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index number = side.words.empty() ? -1 : side.words[at];
    if (number >= 0 && number == last) {
      words.back().tokens.push_back(i);
      if (side.word_texts.empty()) words.back().text += without_marker(side.tokens[at]);
    } else {
      const bool told = number >= 0 && static_cast<std::size_t>(number) < side.word_texts.size();
      words.push_back(
          {told ? side.word_texts[static_cast<std::size_t>(number)] : without_marker(side.tokens[at]), {i}});
    }
    last = number;
  }
  return words;
}

std::vector<Index> find_word(const TraceSide& side, std::string_view word) {
  const std::vector<TraceWord> words = trace_words(side);
  if (const TraceWord* const first = nth(words, word, 1)) return first->tokens;
  const std::size_t colon = word.rfind(':');
  Index n = 0;
  if (colon != std::string_view::npos) {
    const auto [end, error] = std::from_chars(word.data() + colon + 1, word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size()) n = 0;
  }
  const TraceWord* const found = n >= 1 ? nth(words, word.substr(0, colon), n) : nullptr;
  HEED_CHECK(found != nullptr, "there is no word '{}' among: {}", visible_text(word), list_of(words));
  return found->tokens;
}

}  // namespace heed
