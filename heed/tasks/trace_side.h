// What a trace says of a text's tokens: how they are written, and which word each is of.
//
//   TraceSide side = trace_side(*folder.source_vocabulary, ids, {"Guten Morgen."});
//   side.tokens;       // "▁Guten", "▁Mor", "gen", ".", "</s>"
//   side.words;        // 0, 1, 1, 2, -1
//   side.word_texts;   // "Guten", "Morgen", "."
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/observe/trace.h"
#include "heed/text/vocabulary.h"

namespace heed {

// A text that ids are of.
struct TracedText {
  std::string text{};
  std::string second{};  // of a pair
  bool is_pair = false;
  bool counted = false;  // words are to be those that a gold alignment of the text counts, whatever its language
  std::vector<std::int32_t> around{};  // special ids that the vocabulary does not call so; -1 is none
};

// Words are those that alignments count (alignment_tokens of heed/corpus/corpus.h): runs between blanks, with the marks
// at their ends apart. A piece that holds parts of several is of the one that its middle lies in. Where a text is
// written without blanks between words, as Chinese is, each piece is a word, unless it is counted. Ids that the
// vocabulary calls special, and kNoTarget, which has no token, are of no word. Segments are those of a pair: a special
// token's is that of the piece before it.
TraceSide trace_side(const Vocabulary& vocabulary, std::span<const std::int32_t> ids, const TracedText& text);

// `count` of a side's tokens, with the words of all.
TraceSide part_of(const TraceSide& side, Index first, Index count);

// The token as people can read it: as the vocabulary writes it, or where that is bytes in disguise ("ĠgrÃ¼n"), what it
// stands for, with "▁" for a space.
std::string readable_piece(const Vocabulary& vocabulary, int id);

}  // namespace heed
