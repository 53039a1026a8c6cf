// TER (Snover et al. 2006, "A study of translation edit rate with targeted human annotation"), the number that
// sacreBLEU 2 gives, which is tercom's 7.25 but for extreme cases.
//
//   corpus_ter(hypotheses, references).summary();                          // "TER = 63.25"
//   corpus_ter(hypotheses, references, {.normalized = true}).summary();    // options: ter_tokenizer.h
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/metrics/ter_tokenizer.h"

namespace heed {

struct TerScore {
  double score = 0;             // 100 edits / reference_length: 0 is best, and it may pass 100
  Index edits = 0;              // insertions, deletions, substitutions, and shifts
  double reference_length = 0;  // words; of several references, their mean in each segment
  std::string signature;        // "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:heed-0.1.0"

  // "TER = 63.25"
  std::string summary() const;
};

// Scores a corpus: 100 times the edits that make each hypothesis its reference, over the references' words. An edit
// inserts, removes or replaces a word, or shifts a run of up to 10 words that matches the reference elsewhere, up to 50
// words away. Shifts are taken greedily, each the one that saves most edits, for as long as one saves any, and until
// 1000 were tried in a segment. Of several references, each segment counts against the one that needs fewest edits.
// Edits against nothing score 100. references[r][i] is the r-th reference of hypotheses[i]; an empty string is an empty
// reference. Throws heed::Error for no hypotheses or no references, for sets of another size than the hypotheses, and
// for invalid UTF-8. The same bits whatever the thread count.
TerScore corpus_ter(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                    const TerOptions& options = {});

// Scores one sentence against its references.
TerScore sentence_ter(std::string_view hypothesis, std::span<const std::string> references,
                      const TerOptions& options = {});

}  // namespace heed
