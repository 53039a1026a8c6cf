#include "heed/tasks/trace_side.h"

#include <algorithm>
#include <array>

#include "heed/base/blanks.h"
#include "heed/base/replace_all.h"
#include "heed/corpus/corpus.h"
#include "heed/text/batching.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The words of the pieces of one text: a number for each piece, and what they are.
struct WordsOfPieces {
  std::vector<Index> of_piece;
  std::vector<std::string> texts;
};

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return kBlanks.find(c) != kBlanks.npos; });
  return text;
}

double visible_length(std::string_view text) {
  return static_cast<double>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80 && kBlanks.find(c) == kBlanks.npos; }));
}

// Whether words stand in it without blanks between them: more than four letters of scripts that need none to a run.
bool is_unspaced(std::string_view text) {
  const auto needs_no_blanks = [](char32_t c) {
    return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) ||
           (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x20000 && c <= 0x3FFFF);
  };
  const auto letters = std::ranges::count_if(decode_utf8(text, "trace"), needs_no_blanks);
  return letters > 4 * std::ssize(split_at_blanks(text));
}

// Each piece a word, but for those that are space alone, which are of the word that they open.
WordsOfPieces words_of_each_piece(const std::vector<std::string>& surfaces) {
  WordsOfPieces words;
  for (const std::string& surface : surfaces) {
    words.of_piece.push_back(std::ssize(words.texts));
    if (const std::string text = without_blanks(surface); !text.empty()) words.texts.push_back(text);
  }
  for (Index& word : words.of_piece) word = std::min(word, std::ssize(words.texts) - 1);
  return words;
}

// Adds the words of `text`, over which the pieces lie side by side, each in proportion to its characters: both spell
// the same unless the vocabulary has changed or lost some.
void add_words(std::span<const std::string> pieces, std::string_view text, WordsOfPieces& words) {
  const std::vector<std::string> tokens = alignment_tokens(text);
  if (tokens.empty()) {
    words.of_piece.insert(words.of_piece.end(), pieces.size(), -1);
    return;
  }
  std::vector<double> ends;  // of tokens along the text
  for (const std::string& token : tokens) ends.push_back((ends.empty() ? 0 : ends.back()) + visible_length(token));
  double all = 0, begin = 0;
  for (const std::string& piece : pieces) all += visible_length(piece);
  const auto first = std::ssize(words.texts);
  for (const std::string& piece : pieces) {
    const double length = visible_length(piece), middle = all > 0 ? (begin + length / 2) / all * ends.back() : 0;
    const auto token = std::ranges::find_if(ends, [&](double end) { return middle < end; });
    words.of_piece.push_back(first + std::min(token - ends.begin(), std::ssize(tokens) - 1));
    begin += length;
  }
  words.texts.insert(words.texts.end(), tokens.begin(), tokens.end());
}

WordsOfPieces words_of(const Vocabulary& vocabulary, std::span<const int> ids, const std::string& text, bool counted) {
  std::vector<std::string> surfaces;
  for (int id : ids) surfaces.push_back(vocabulary.surface(id));
  if (!counted && is_unspaced(text)) return words_of_each_piece(surfaces);
  const std::vector<std::string_view> runs = split_at_blanks(text);
  const std::vector<int> run_of_piece = vocabulary.word_of_pieces(ids);
  const int last = run_of_piece.empty() ? -1 : std::ranges::max(run_of_piece);
  WordsOfPieces words;
  if (last + 1 != std::ssize(runs) || !std::ranges::is_sorted(run_of_piece)) {
    add_words(surfaces, text, words);  // as one: they cannot be told apart
    return words;
  }
  // Run by run, so that a character lost in one moves nothing in the others.
  std::size_t piece = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::size_t begin = piece;
    while (piece < ids.size() && run_of_piece[piece] <= static_cast<int>(run)) ++piece;
    add_words(std::span(surfaces).subspan(begin, piece - begin), runs[run], words);
  }
  return words;
}

}  // namespace

std::string readable_piece(const Vocabulary& vocabulary, int id) {
  const std::string piece = vocabulary.piece(id);
  if (vocabulary.is_special(id) || vocabulary.kind() != "tokenizer") return piece;
  std::string surface = vocabulary.surface(id);
  const std::string bare = without_blanks(surface);
  const auto is_bytes = [&](std::string_view mark) {
    return !piece.starts_with(mark) || std::string_view(piece).substr(mark.size()) != bare;
  };
  const bool disguised = std::ranges::all_of(std::array<std::string_view, 3>{"", "##", kSpaceMark}, is_bytes);
  if (!disguised || surface.empty() || surface.find(kReplacement) != surface.npos) return piece;
  return replace_all(std::move(surface), " ", kSpaceMark);
}

TraceSide trace_side(const Vocabulary& vocabulary, std::span<const std::int32_t> ids, const TracedText& text) {
  const auto is_special = [&](std::int32_t id) {
    return id == kNoTarget || vocabulary.is_special(id) || std::ranges::find(text.around, id) != text.around.end();
  };
  TraceSide side{.text = text.is_pair ? text.text + "\n" + text.second : text.text};
  std::vector<int> plain;
  for (std::int32_t id : ids) {
    side.tokens.push_back(id == kNoTarget ? std::string() : readable_piece(vocabulary, id));
    if (!is_special(id)) plain.push_back(id);
  }
  const std::size_t of_first =
      text.is_pair ? std::min(vocabulary.encode(text.text).size(), plain.size()) : plain.size();
  WordsOfPieces words = words_of(vocabulary, std::span(plain).first(of_first), text.text, text.counted);
  if (text.is_pair) {
    const WordsOfPieces more = words_of(vocabulary, std::span(plain).subspan(of_first), text.second, text.counted);
    for (Index word : more.of_piece) words.of_piece.push_back(word < 0 ? word : word + std::ssize(words.texts));
    words.texts.insert(words.texts.end(), more.texts.begin(), more.texts.end());
  }
  std::size_t piece = 0;
  for (std::int32_t id : ids) {
    const bool is_piece = !is_special(id);
    if (text.is_pair) side.segments.push_back(is_piece ? Index{piece >= of_first} : Index{piece > of_first});
    side.words.push_back(is_piece ? words.of_piece[piece++] : -1);
  }
  side.word_texts = std::move(words.texts);
  return side;
}

TraceSide part_of(const TraceSide& side, Index first, Index count) {
  TraceSide part{.text = side.text, .word_texts = side.word_texts};
  part.tokens.assign(side.tokens.begin() + first, side.tokens.begin() + first + count);
  part.words.assign(side.words.begin() + first, side.words.begin() + first + count);
  return part;
}

}  // namespace heed
