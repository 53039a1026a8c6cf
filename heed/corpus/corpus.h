// An endless German-English corpus with gold word alignments, made by a grammar of everyday language.
//
//   Corpus corpus = generate_corpus({.pairs = 50000, .seed = 1});
//   corpus.train[0].source;                // "Der Mann ruft seine Frau an."
//   corpus.train[0].target;                // "The man calls his wife."
//   corpus.train[0].alignment;             // 0-0 1-1 2-2 3-3 4-4 5-2 6-5: "ruft" and "an" both to "calls"
//   write_corpus(corpus, "data");          // data/train.de, train.en, train.align, valid.*, test.*
//
// The English sentence is a function of the German one: no two pairs of the grammar share a German sentence and differ
// in the English one, so a model can be right about every word. What German leaves open the grammar decides once: the
// Perfekt is the simple past (with "schon", "gerade", "noch nie" the present perfect), "wenn" is "if", the possessive
// "ihr" belongs to the clause's subject where that is a "she" or "they", and so on; see clause.h for how verbs are
// aligned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/base/progress.h"

namespace heed {

// Positions of two aligned words, from 0, counted by alignment_tokens.
struct WordLink {
  int source = 0;
  int target = 0;
  friend bool operator==(const WordLink&, const WordLink&) = default;
};

// Plain text as people write it: capitals, punctuation attached to the word before it. Links are sorted by source, then
// target; words without a counterpart (a comma that
// English lacks, the "a" of "is a teacher") have none.
struct SentencePair {
  std::string source;  // German
  std::string target;  // English
  std::vector<WordLink> alignment;
  friend bool operator==(const SentencePair&, const SentencePair&) = default;
};

// Over all three parts together, every source and every target occurs once.
struct Corpus {
  std::vector<SentencePair> train, validation, test;
};

inline constexpr Index kMostPairs = 10'000'000;  // of the three parts together

struct CorpusOptions {
  Index pairs = 50000;  // of train
  std::uint64_t seed = 1;
  Index validation = 500;
  Index test = 500;
};

// Draws the corpus. The same options give the same corpus, whatever the thread count; test and validation do not depend
// on `pairs`. Throws heed::Error where a count is negative or their sum exceeds kMostPairs (the grammar has far more
// sentences, but the likely ones are drawn first). Progress counts pairs.
Corpus generate_corpus(const CorpusOptions& options = {}, const Progress& progress = {});

// The nine files that write_corpus writes in a folder.
std::vector<std::filesystem::path> corpus_files(const std::filesystem::path& folder);

// Writes train, valid and test in three files each: .de, .en (a sentence a line) and .align (a line of blank-separated
// "i-j" with i a source and j a target position). The folder is made where it is missing; each file is replaced whole
// or not at all. Throws heed::Error as write_file does, and where another process writes a corpus into the folder.
void write_corpus(const Corpus& corpus, const std::filesystem::path& folder);

// The words that alignments count: the sentence is split at blanks, and each of . , ? ! : at the end of such a piece is
// a word of its own: "Ja, gut." is {"Ja", ",", "gut", "."}. The blanks are space, tab and line ends.
std::vector<std::string> alignment_tokens(std::string_view sentence);

// "0-0 1-2 2-1", as in the .align files.
std::string alignment_text(const std::vector<WordLink>& alignment);

// A lower bound of how many different German sentences the grammar has. Counted are only statements of a definite
// subject, a verb with accusative in the present, and a definite object, each noun alone or with one adjective:
//   sum over such verbs v of (sum over subjects n of v: 1 + a(n)) x (sum over objects n of v: 1 + a(n)),
// a(n) the number of adjectives that fit n. Subject, verb and object can be read off the sentence, so all of them
// differ; tenses, times, places, questions and subordinate clauses multiply this by far more.
double count_sentences();

}  // namespace heed
