// chrF and chrF++ (Popovic 2015, "chrF: character n-gram F-score for automatic MT evaluation"; 2017, "chrF++: words
// helping character n-grams"), the numbers that sacreBLEU 2 gives.
//
//   corpus_chrf(hypotheses, references).summary();                        // "chrF2 = 55.93"
//   corpus_chrf(hypotheses, references, {.word_order = 2}).summary();     // "chrF2++ = 53.24"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed {

struct ChrfOptions {
  int char_order = 6;       // 1 to 100
  int word_order = 0;       // 0 to 100; 2 is chrF++
  int beta = 2;             // 1 to 100: how many times as much recall weighs as precision
  bool whitespace = false;  // count white space as characters
  bool lowercase = false;
  // Average the F-scores of all orders, as chrF++.py does, and not F of the precisions and recalls averaged over the
  // orders that both sides are long enough for. The two differ much only for very short texts.
  bool eps_smoothing = false;
};

struct ChrfScore {
  double score = 0;       // 0 to 100
  std::string name;       // "chrF2", "chrF2++": beta, and a plus for each word order
  std::string signature;  // "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:heed-0.1.0"

  // "chrF2 = 55.93"
  std::string summary() const;
};

// Scores a corpus: with the precision P and the recall R of character n-grams (and word n-grams) averaged over the
// orders,
//
//   chrF = 100 (1 + beta^2) P R / (beta^2 P + R)
//
// Matches are summed over the segments first. Of several references, each segment counts against the one that gives it
// the best chrF. For word n-grams, one mark of ASCII punctuation is split from a word's end, or else from its start.
// references[r][i] is the r-th reference of hypotheses[i]; an empty string is an empty reference.
// Throws heed::Error for no hypotheses or no references, for sets of another size than the hypotheses, for invalid
// UTF-8, and for options out of range. The same bits whatever the thread count.
ChrfScore corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                      const ChrfOptions& options = {});

// Scores one sentence against its references.
ChrfScore sentence_chrf(std::string_view hypothesis, std::span<const std::string> references,
                        const ChrfOptions& options = {});

}  // namespace heed
