#include "heed/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/segments.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr std::pair<BleuSmoothing, std::string_view> kSmoothingNames[] = {
    {BleuSmoothing::none, "none"},
    {BleuSmoothing::floor, "floor"},
    {BleuSmoothing::add_k, "add-k"},
    {BleuSmoothing::exp, "exp"},
};

struct BleuCounts {
  std::vector<Index> matches;
  std::vector<Index> totals;
  Index hypothesis_length = 0;
  Index reference_length = 0;

  explicit BleuCounts(int max_order) : matches(max_order), totals(max_order) {}
};

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::floor ? 0.1 : 1.0);
}

void check_options(std::string_view function, const BleuOptions& options) {
  HEED_CHECK(options.max_order >= 1 && options.max_order <= 100, "{}: max_order must be 1 to 100, but is {}", function,
             options.max_order);
  const double value = smoothing_value(options);
  HEED_CHECK(std::isfinite(value) && value >= 0, "{}: smoothing_value must be finite and not negative, but is {}",
             function, value);
}

std::vector<std::u32string> tokens(const std::string& segment, const BleuOptions& options) {
  std::u32string text = decode_utf8(segment, "corpus_bleu");
  if (options.lowercase) text = to_lower(text);
  return bleu_tokens(strip_right(text), options.tokenizer);
}

// The length that is closest to the hypothesis's; of two as close, the shorter.
Index closest_length(Index hypothesis, std::span<const Index> references) {
  return *std::min_element(references.begin(), references.end(), [&](Index a, Index b) {
    return std::pair(std::abs(a - hypothesis), a) < std::pair(std::abs(b - hypothesis), b);
  });
}

BleuCounts count_segment(const std::string& hypothesis, std::span<const std::vector<std::string>> references,
                         Index segment, const BleuOptions& options) {
  std::vector<std::vector<std::u32string>> words = {tokens(hypothesis, options)};
  for (const std::vector<std::string>& set : references) words.push_back(tokens(set[segment], options));
  NgramCounts ngrams(number_words(words));

  BleuCounts counts(options.max_order);
  std::vector<Index> lengths;
  for (std::size_t s = 1; s < words.size(); ++s) lengths.push_back(static_cast<Index>(words[s].size()));
  counts.hypothesis_length = static_cast<Index>(words[0].size());
  counts.reference_length = closest_length(counts.hypothesis_length, lengths);
  for (int n = 0; n < options.max_order; ++n) {
    if (n > 0) ngrams.next_order();
    std::vector<Index> allowed = ngrams.counts(1);
    for (std::size_t s = 2; s < words.size(); ++s) {
      const std::vector<Index> other = ngrams.counts(static_cast<Index>(s));
      std::transform(allowed.begin(), allowed.end(), other.begin(), allowed.begin(),
                     [](Index a, Index b) { return std::max(a, b); });
    }
    counts.matches[n] = clipped_matches(ngrams.counts(0), allowed);
    counts.totals[n] = ngrams.total(0);
  }
  return counts;
}

double brevity_penalty(Index hypothesis_length, Index reference_length) {
  if (hypothesis_length >= reference_length) return 1;
  if (hypothesis_length == 0) return 0;
  return std::exp(1 - static_cast<double>(reference_length) / static_cast<double>(hypothesis_length));
}

std::string fields(const BleuOptions& options) {
  std::string text = fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", options.lowercase ? "lc" : "mixed",
                                 options.effective_order ? "yes" : "no", bleu_tokenizer_name(options.tokenizer),
                                 bleu_smoothing_name(options.smoothing));
  if (options.smoothing == BleuSmoothing::floor || options.smoothing == BleuSmoothing::add_k) {
    text += fmt::format("[{:.2f}]", smoothing_value(options));
  }
  // sacreBLEU does not say this; two scores that differ must not have one signature.
  if (options.max_order != BleuOptions{}.max_order) text += fmt::format("|order:{}", options.max_order);
  return text;
}

}  // namespace

std::string_view bleu_smoothing_name(BleuSmoothing smoothing) {
  for (const auto& [value, name] : kSmoothingNames) {
    if (value == smoothing) return name;
  }
  fail("bleu_smoothing_name: there is no BLEU smoothing {}", static_cast<int>(smoothing));
}

BleuSmoothing parse_bleu_smoothing(std::string_view name) {
  for (const auto& [value, known] : kSmoothingNames) {
    if (known == name) return value;
  }
  fail("parse_bleu_smoothing: '{}' is none of none, floor, add-k, exp", name);
}

std::string BleuScore::summary() const {
  std::string text = fmt::format("BLEU = {:.2f} ", score);
  for (std::size_t n = 0; n < precisions.size(); ++n) text += fmt::format("{}{:.1f}", n == 0 ? "" : "/", precisions[n]);
  const double ratio =
      reference_length == 0 ? 0 : static_cast<double>(hypothesis_length) / static_cast<double>(reference_length);
  return text + fmt::format(" (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})", brevity_penalty, ratio,
                            hypothesis_length, reference_length);
}

BleuScore bleu_from_counts(std::span<const Index> counts, std::span<const Index> totals, Index hypothesis_length,
                           Index reference_length, const BleuOptions& options) {
  check_options("bleu_from_counts", options);
  const auto orders = static_cast<std::size_t>(options.max_order);
  HEED_CHECK(counts.size() == orders && totals.size() == orders,
             "bleu_from_counts: max_order is {}, but there are {} counts and {} totals", orders, counts.size(),
             totals.size());
  HEED_CHECK(hypothesis_length >= 0 && reference_length >= 0,
             "bleu_from_counts: the lengths {} and {} must not be negative", hypothesis_length, reference_length);
  for (std::size_t n = 0; n < orders; ++n) {
    HEED_CHECK(0 <= counts[n] && counts[n] <= totals[n], "bleu_from_counts: order {}: {} matches of {} n-grams", n + 1,
               counts[n], totals[n]);
  }

  BleuScore result;
  result.precisions.assign(orders, 0.0);
  result.brevity_penalty = brevity_penalty(hypothesis_length, reference_length);
  result.hypothesis_length = hypothesis_length;
  result.reference_length = reference_length;
  result.counts.assign(counts.begin(), counts.end());
  result.totals.assign(totals.begin(), totals.end());
  if (std::all_of(counts.begin(), counts.end(), [](Index count) { return count == 0; })) return result;

  const double value = smoothing_value(options);
  double halving = 1;
  std::size_t averaged = orders;
  for (std::size_t n = 0; n < orders; ++n) {
    const double added = options.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double matches = static_cast<double>(counts[n]) + added;
    const double total = static_cast<double>(totals[n]) + added;
    if (total == 0) break;
    if (options.effective_order) averaged = n + 1;
    if (matches > 0) {
      result.precisions[n] = 100 * matches / total;
    } else if (options.smoothing == BleuSmoothing::exp) {
      halving *= 2;
      result.precisions[n] = 100 / (halving * total);
    } else if (options.smoothing == BleuSmoothing::floor) {
      result.precisions[n] = 100 * value / total;
    }
  }
  double log_sum = 0;  // -inf where a precision is 0
  for (std::size_t n = 0; n < averaged; ++n) log_sum += std::log(result.precisions[n]);
  result.score = result.brevity_penalty * std::exp(log_sum / static_cast<double>(averaged));
  return result;
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                      const BleuOptions& options) {
  check_options("corpus_bleu", options);
  check_segments("corpus_bleu", hypotheses, references);
  std::vector<BleuCounts> segments(hypotheses.size(), BleuCounts(options.max_order));
  parallel_for(static_cast<Index>(hypotheses.size()), kSegmentsPerTask, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) segments[i] = count_segment(hypotheses[i], references, i, options);
  });

  BleuCounts sum(options.max_order);
  for (const BleuCounts& counts : segments) {
    for (int n = 0; n < options.max_order; ++n) {
      sum.matches[n] += counts.matches[n];
      sum.totals[n] += counts.totals[n];
    }
    sum.hypothesis_length += counts.hypothesis_length;
    sum.reference_length += counts.reference_length;
  }
  BleuScore score = bleu_from_counts(sum.matches, sum.totals, sum.hypothesis_length, sum.reference_length, options);
  score.signature = signature(static_cast<Index>(references.size()), fields(options));
  return score;
}

BleuScore sentence_bleu(std::string_view hypothesis, std::span<const std::string> references,
                        const BleuOptions& options) {
  const std::string hypotheses[] = {std::string(hypothesis)};
  return corpus_bleu(hypotheses, as_reference_sets(references), options);
}

}  // namespace heed
