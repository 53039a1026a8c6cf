// The tokens of a word, by the word.
//
//   for (Index row : find_word(trace.query_side(map.kind), "it")) ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/observe/trace.h"

namespace heed {

struct TraceWord {
  std::string text;
  std::vector<Index> tokens;  // their places
};

// The words of a side. Where the trace does not tell words, and for special tokens, each token is one, without the
// U+2581 before it.
std::vector<TraceWord> trace_words(const TraceSide& side);

// The places of the tokens that the word is made of: of its first occurrence, or of the n-th one for "it:2". Throws
// heed::Error, naming the words that are there, for one that is not.
std::vector<Index> find_word(const TraceSide& side, std::string_view word);

}  // namespace heed
