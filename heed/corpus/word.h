// Words that carry their meaning with them: the gold alignment is read off these marks, never guessed afterwards.
//
//   Meanings meanings;
//   Phrase night = expression({"in:1 der Nacht:2", "at:1 night:2"}, meanings);   // "in der Nacht" / "at night"
//   // A German and an English word are aligned where they share a meaning: in-at, Nacht-night; "der" stays alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::grammar {

// One token of a sentence with up to two meanings ("zum" is both "to" and "the"); 0 is no meaning. Meanings are numbers
// that are unique within the sentence pair.
struct Word {
  std::string text;
  int meaning = 0;
  int also = 0;
};

using Words = std::vector<Word>;

// A constituent in both languages.
struct Phrase {
  Words german;
  Words english;
};

// Hands out the meanings of one sentence pair.
class Meanings {
 public:
  int fresh() { return ++last_; }
  // The meaning that the words of negation share: "nicht" or "kein" with "not".
  int negation() { return negation_ == 0 ? negation_ = fresh() : negation_; }
  // Every clause has a "not" of its own: enter returns what leave takes back.
  int enter_clause() { return std::exchange(negation_, 0); }
  void leave_clause(int outer) { negation_ = outer; }

 private:
  int last_ = 0;
  int negation_ = 0;
};

// A fixed expression in both languages. Digits after a colon are the meanings of a word ("am:12 Morgen:3", "in:1 the:2
// morning:3"); a word without them has none. Where neither side has a colon, every word means the same one thing.
struct Expression {
  std::string german;
  std::string english;
};

// Reads the notation of Expression.
Phrase expression(const Expression& source, Meanings& meanings);

// Appends the words of text (split at blanks), each with the given meanings.
void append(Words& words, std::string_view text, int meaning, int also = 0);
// Appends all of tail.
void append(Words& words, const Words& tail);

// Returns whether the word is one of . , ? ! :
bool is_punctuation(std::string_view word);

// Makes a sentence of words: drops a comma before another mark, appends the final mark, chooses between "a" and "an" on
// the English side, and puts a capital at the front. Punctuation stays a word of its own.
Words finish_german(Words words, std::string_view final_mark, int final_meaning);
Words finish_english(Words words, std::string_view final_mark, int final_meaning);

// Joins words by blanks, punctuation attached to the word before it.
std::string join(const Words& words);

}  // namespace heed::grammar
