#include "heed/metrics/chrf.h"

#include <cstdint>

#include "heed/base/check.h"
#include "heed/base/index.h"
#include "heed/base/parallel.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/segments.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

// One order's n-grams.
struct OrderCounts {
  Index hypothesis = 0;
  Index reference = 0;
  Index matches = 0;
};
using ChrfCounts = std::vector<OrderCounts>;  // character orders, then word orders

void check_options(const ChrfOptions& options) {
  HEED_CHECK(options.char_order >= 1 && options.char_order <= 100,
             "corpus_chrf: char_order must be 1 to 100, but is {}", options.char_order);
  HEED_CHECK(options.word_order >= 0 && options.word_order <= 100,
             "corpus_chrf: word_order must be 0 to 100, but is {}", options.word_order);
  HEED_CHECK(options.beta >= 1 && options.beta <= 100, "corpus_chrf: beta must be 1 to 100, but is {}", options.beta);
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

// The words of chrF++: "(hi)" becomes "(hi" and ")".
std::vector<std::u32string> words_and_punctuation(std::u32string_view text) {
  std::vector<std::u32string> result;
  for (std::u32string& word : split_words(text)) {
    if (word.size() > 1 && is_ascii_punctuation(word.back())) {
      result.push_back(word.substr(0, word.size() - 1));
      result.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      result.push_back(word.substr(0, 1));
      result.push_back(word.substr(1));
    } else {
      result.push_back(std::move(word));
    }
  }
  return result;
}

std::vector<std::uint32_t> characters(std::u32string_view text, bool whitespace) {
  std::vector<std::uint32_t> result;
  result.reserve(text.size());
  for (const char32_t c : text) {
    if (whitespace || !is_space(c)) result.push_back(c);
  }
  return result;
}

// Appends one count for each order to counts[r], for each reference r.
void count_orders(NgramCounts ngrams, int orders, std::vector<ChrfCounts>& counts) {
  for (int n = 0; n < orders; ++n) {
    if (n > 0) ngrams.next_order();
    const std::vector<Index> hypothesis = ngrams.counts(0);
    for (std::size_t r = 0; r < counts.size(); ++r) {
      const auto reference = static_cast<Index>(r) + 1;
      const Index total = ngrams.total(reference);
      // Where the reference is too short for the order, nothing is held against the hypothesis either.
      counts[r].push_back(
          {total == 0 ? 0 : ngrams.total(0), total, clipped_matches(hypothesis, ngrams.counts(reference))});
    }
  }
}

double f_score(const ChrfCounts& counts, const ChrfOptions& options) {
  constexpr double kEpsilon = 1e-16;
  const double factor = static_cast<double>(options.beta) * options.beta;
  double sum_f = 0, sum_precision = 0, sum_recall = 0;
  Index orders = 0;
  for (const OrderCounts& order : counts) {
    const auto matches = static_cast<double>(order.matches);
    const double precision = order.hypothesis > 0 ? matches / static_cast<double>(order.hypothesis) : kEpsilon;
    const double recall = order.reference > 0 ? matches / static_cast<double>(order.reference) : kEpsilon;
    const double divisor = factor * precision + recall;
    sum_f += divisor > 0 ? (1 + factor) * precision * recall / divisor : kEpsilon;
    if (order.hypothesis > 0 && order.reference > 0) {
      sum_precision += precision;
      sum_recall += recall;
      ++orders;
    }
  }
  if (options.eps_smoothing) return 100 * sum_f / static_cast<double>(counts.size());
  if (orders == 0 || sum_precision + sum_recall == 0) return 0;
  const double precision = sum_precision / static_cast<double>(orders);
  const double recall = sum_recall / static_cast<double>(orders);
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

// The counts against the reference that gives the best score; of equals, the first.
ChrfCounts count_segment(const std::string& hypothesis, std::span<const std::vector<std::string>> references,
                         Index segment, const ChrfOptions& options) {
  std::vector<std::u32string> texts = {decode_utf8(hypothesis, "corpus_chrf")};
  for (const std::vector<std::string>& set : references) texts.push_back(decode_utf8(set[segment], "corpus_chrf"));
  std::vector<std::vector<std::uint32_t>> sequences;
  std::vector<std::vector<std::u32string>> words;
  for (std::u32string& text : texts) {
    if (options.lowercase) text = to_lower(text);
    sequences.push_back(characters(text, options.whitespace));
    if (options.word_order > 0) words.push_back(words_and_punctuation(text));
  }
  std::vector<ChrfCounts> counts(references.size());
  count_orders(NgramCounts(std::move(sequences)), options.char_order, counts);
  if (options.word_order > 0) count_orders(NgramCounts(number_words(words)), options.word_order, counts);

  std::size_t best = 0;
  double best_score = f_score(counts[0], options);
  for (std::size_t r = 1; r < counts.size(); ++r) {
    const double score = f_score(counts[r], options);
    if (score > best_score) {
      best = r;
      best_score = score;
    }
  }
  return counts[best];
}

}  // namespace

std::string ChrfScore::summary() const { return fmt::format("{} = {:.2f}", name, score); }

ChrfScore corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                      const ChrfOptions& options) {
  check_options(options);
  check_segments("corpus_chrf", hypotheses, references);
  std::vector<ChrfCounts> segments(hypotheses.size());
  parallel_for(static_cast<Index>(hypotheses.size()), kSegmentsPerTask, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) segments[i] = count_segment(hypotheses[i], references, i, options);
  });

  ChrfCounts sum(options.char_order + options.word_order);
  for (const ChrfCounts& counts : segments) {
    for (std::size_t n = 0; n < sum.size(); ++n) {
      sum[n].hypothesis += counts[n].hypothesis;
      sum[n].reference += counts[n].reference;
      sum[n].matches += counts[n].matches;
    }
  }
  ChrfScore score;
  score.score = f_score(sum, options);
  score.name = fmt::format("chrF{}{}", options.beta, std::string(static_cast<std::size_t>(options.word_order), '+'));
  score.signature = signature(static_cast<Index>(references.size()),
                              fmt::format("case:{}|eff:{}|nc:{}|nw:{}|space:{}", options.lowercase ? "lc" : "mixed",
                                          options.eps_smoothing ? "no" : "yes", options.char_order, options.word_order,
                                          options.whitespace ? "yes" : "no"));
  return score;
}

ChrfScore sentence_chrf(std::string_view hypothesis, std::span<const std::string> references,
                        const ChrfOptions& options) {
  const std::string hypotheses[] = {std::string(hypothesis)};
  return corpus_chrf(hypotheses, as_reference_sets(references), options);
}

}  // namespace heed
