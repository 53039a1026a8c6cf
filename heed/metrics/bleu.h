// BLEU (Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation"), the number that
// sacreBLEU (Post 2018) gives.
//
//   BleuScore bleu = corpus_bleu(hypotheses, references);      // references: one vector for each set
//   bleu.summary();    // "BLEU = 26.60 58.9/32.3/20.1/13.0 (BP = 1.000 ratio = 1.020 hyp_len = 62496 ref_len = 61287)"
//   bleu.signature;    // "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:heed-0.1.0"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/metrics/bleu_tokenizer.h"

namespace heed {

// What stands in for the precision p_n = 0 / t_n of an order without a match (Chen & Cherry 2014, methods 1 to 3).
enum class BleuSmoothing {
  none,   // 0, which makes the score 0
  floor,  // value / t_n
  add_k,  // (c_n + value) / (t_n + value) for every order above 1, matched or not
  exp,    // 1 / (2^k t_n) for the k-th such order: mteval-v13a's, and sacreBLEU's default
};

// The name in signatures and on command lines: "none", "floor", "add-k", "exp".
std::string_view bleu_smoothing_name(BleuSmoothing smoothing);
// Throws heed::Error that lists the names, for another one.
BleuSmoothing parse_bleu_smoothing(std::string_view name);

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
  int max_order = 4;  // 1 to 100
  BleuSmoothing smoothing = BleuSmoothing::exp;
  // Of floor (0.1 unless given) and of add_k (1 unless given).
  std::optional<double> smoothing_value = std::nullopt;
  // Average over the orders that the hypothesis is long enough for. For single sentences only.
  bool effective_order = false;
};

struct BleuScore {
  double score = 0;                // 0 to 100
  std::vector<double> precisions;  // of orders 1 to max_order, smoothed, 0 to 100
  double brevity_penalty = 1;
  Index hypothesis_length = 0;  // tokens
  Index reference_length = 0;   // tokens of each segment's closest reference
  std::vector<Index> counts;    // matched n-grams by order, clipped, before smoothing
  std::vector<Index> totals;    // the hypotheses' n-grams by order
  std::string signature;        // how the number came about; empty from bleu_from_counts

  // sacreBLEU's line, with two decimals.
  std::string summary() const;
};

// Scores a corpus:
//
//   BLEU = 100 BP exp( mean over n of log p_n ),   p_n = sum of clipped matches / sum of the hypotheses' n-grams,
//   BP = min(1, exp(1 - reference_length / hypothesis_length))
//
// A match is clipped at the n-gram's largest count in one of the segment's references; the reference length is that of
// the closest reference, the shorter of two as close. Without any match of any order the score is 0, smoothed or not.
// references[r][i] is the r-th reference of hypotheses[i]; an empty string is an empty reference.
// Throws heed::Error for no hypotheses or no references, for sets of another size than the hypotheses, for invalid
// UTF-8, and for options out of range. The same bits whatever the thread count.
BleuScore corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                      const BleuOptions& options = {});

// Scores one sentence against its references. As in sacreBLEU the effective order is on by default; options that are
// given say themselves whether it is.
BleuScore sentence_bleu(std::string_view hypothesis, std::span<const std::string> references,
                        const BleuOptions& options = {.effective_order = true});

// The last step of both: the score of counts that were summed elsewhere. counts and totals hold options.max_order
// orders. Throws heed::Error where they do not, where a count is negative or above its total, and for options out of
// range.
BleuScore bleu_from_counts(std::span<const Index> counts, std::span<const Index> totals, Index hypothesis_length,
                           Index reference_length, const BleuOptions& options = {});

}  // namespace heed
