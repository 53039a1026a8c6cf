#include "heed/tasks/alignment_search.h"

#include <algorithm>
#include <map>

#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/tasks/symmetrise.h"

namespace heed {
namespace {

// What is done to weights before they are linked.
constexpr LinkRule kWeights[] = {{}, {.balance = true}, {.apart = true}, {.apart = true, .balance = true}};

std::vector<LinkRule> rules() {
  std::vector<LinkRule> all;
  for (const LinkRule& weights : kWeights) {
    const auto add = [&](double threshold, std::optional<double> free) {
      all.push_back({.threshold = threshold, .free = free, .apart = weights.apart, .balance = weights.balance});
    };
    add(0, {});
    for (int twentieth = 1; twentieth <= 10; ++twentieth) add(0, twentieth / 20.0);
    for (int twentieth = 1; twentieth < 20; ++twentieth) add(twentieth / 20.0, {});
  }
  return all;
}

struct Counts {
  Index links = 0, in_sure = 0, in_possible = 0;

  void add(const AlignmentLinks& found, const GoldAlignment& gold) {
    links += std::ssize(found);
    for (const AlignmentLink& link : found) {
      in_possible += std::ranges::binary_search(gold.possible, link) ? 1 : 0;
      in_sure += std::ranges::binary_search(gold.sure, link) ? 1 : 0;
    }
  }
};

using PairWeights = std::vector<std::vector<SoftAlignment>>;  // [pair][head]; none where a side is empty

std::vector<SoftAlignment> means_of(const PairWeights& pairs, std::span<const Index> heads) {
  std::vector<SoftAlignment> means(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs[i].empty()) means[i] = mean_of(pairs[i], heads);
  }
  return means;
}

// What alignments at one step are worth: the weights of every head over the text, and its gold.
class StepSearch {
 public:
  StepSearch(const std::vector<GoldAlignment>& gold, const std::vector<AttentionHead>& heads, AlignmentStep step,
             const PairWeights& pairs)
      : gold_(gold), heads_(heads), step_(step), pairs_(pairs) {}

  void run(std::vector<AlignmentCandidate>& candidates) const {
    std::vector<Index> best;
    double least = 2;
    const auto weigh = [&](const std::vector<Index>& heads) {
      candidates.push_back(with_best_rule(heads));
      const bool better = candidates.back().score.error_rate < least;
      if (better) best = heads, least = candidates.back().score.error_rate;
      return better;
    };
    for (Index first = 0, end = 0; first < std::ssize(heads_); first = end) {  // layer by layer
      std::vector<Index> layer;
      for (; end < std::ssize(heads_) && layer_of(end) == layer_of(first); ++end) layer.push_back(end);
      if (layer.size() > 1) candidates.push_back(with_best_rule(layer));
    }
    for (Index h = 0; h < std::ssize(heads_); ++h) weigh({h});
    for (bool grown = true; grown;) {
      grown = false;
      const std::vector<Index> chosen = best;
      for (Index h = 0; h < std::ssize(heads_); ++h) {
        if (std::ranges::find(chosen, h) != chosen.end()) continue;
        std::vector<Index> more = chosen;
        more.insert(std::ranges::upper_bound(more, h), h);
        grown = weigh(more) || grown;
      }
    }
  }

 private:
  Index layer_of(Index head) const { return heads_[static_cast<std::size_t>(head)].layer; }

  AlignmentCandidate with_best_rule(const std::vector<Index>& heads) const {
    const RuleSearch best = search_rules(means_of(pairs_, heads), gold_);
    AlignmentCandidate candidate{{.step = step_, .rule = best.rule}, best.score};
    for (Index head : heads) candidate.choice.heads.push_back(heads_[static_cast<std::size_t>(head)]);
    return candidate;
  }

  const std::vector<GoldAlignment>& gold_;
  const std::vector<AttentionHead>& heads_;  // of all layers
  AlignmentStep step_;
  const PairWeights& pairs_;
};

}  // namespace

AlignedText AlignedText::reversed() const {
  AlignedText other{target, source, gold, target_name, source_name, gold_name};
  for (GoldAlignment& pair : other.gold) pair = {transpose(pair.sure), transpose(pair.possible)};
  return other;
}

AlignedText read_aligned_text(const std::filesystem::path& source, const std::filesystem::path& target,
                              const std::filesystem::path& gold, bool one_based) {
  AlignedText text{read_text_lines(source), read_text_lines(target), {},
                   text_name(source),       text_name(target),       text_name(gold)};
  text.gold = parse_gold_alignments(read_text_lines(gold), {.name = text.gold_name, .one_based = one_based});
  HEED_CHECK(!text.source.empty(), "{}: is empty", text.source_name);
  HEED_CHECK(text.source.size() == text.target.size() && text.source.size() == text.gold.size(),
             "{} has {} lines, {} has {} and {} has {}: they must be as many", text.source_name, text.source.size(),
             text.target_name, text.target.size(), text.gold_name, text.gold.size());
  return text;
}

const AlignmentCandidate& AlignmentSearch::best() const {
  HEED_CHECK(!candidates.empty(), "AlignmentSearch: nothing was tried");
  return *std::ranges::min_element(candidates, {}, [](const auto& candidate) { return candidate.score.error_rate; });
}

RuleSearch search_rules(std::span<const SoftAlignment> soft, std::span<const GoldAlignment> gold) {
  HEED_CHECK(soft.size() == gold.size(), "search_rules: {} alignments, but gold for {} sentence pairs", soft.size(),
             gold.size());
  static const std::vector<LinkRule> kRules = rules();
  std::vector<Counts> counts(kRules.size());
  Index sure = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    sure += std::ssize(gold[i].sure);
    const SoftAlignment even = balanced(soft[i]), even_apart = balanced(kept_apart(soft[i]));
    for (std::size_t r = 0; r < kRules.size(); ++r) {
      LinkRule rule = kRules[r];
      const SoftAlignment& weights = !rule.balance ? soft[i] : rule.apart ? even_apart : even;
      rule.balance = false;  // once for all rules
      counts[r].add(links_of(weights, rule), gold[i]);
    }
  }
  RuleSearch best{{}, {.error_rate = 2}};
  for (std::size_t r = 0; r < kRules.size(); ++r) {
    const AlignmentScore score =
        AlignmentScore::from_counts(counts[r].links, sure, counts[r].in_sure, counts[r].in_possible);
    if (score.error_rate < best.score.error_rate) best = {kRules[r], score};
  }
  return best;
}

AlignmentSearch search_alignments(const ModelFolder& folder, const AlignedText& text) {
  std::vector<AttentionHead> heads;
  for (const std::vector<AttentionHead>& layer : cross_attention_heads(folder)) {
    heads.insert(heads.end(), layer.begin(), layer.end());
  }
  std::map<AlignmentStep, PairWeights> weights;
  std::vector<AlignmentStep> steps;
  for (const auto& [name, step] : kAlignmentStepNames) {
    steps.push_back(step);
    weights[step].resize(text.gold.size());
  }
  bool any = false;
  visit_alignments(folder, text.pairs(), heads, steps,
                   [&](std::size_t pair, AlignmentStep step, std::span<const SoftAlignment> of_heads) {
                     weights[step][pair].assign(of_heads.begin(), of_heads.end());
                     any = true;
                   });
  HEED_CHECK(any, "align: {}: has no sentence with tokens", text.source_name);
  AlignmentSearch search;
  for (AlignmentStep step : steps) StepSearch(text.gold, heads, step, weights[step]).run(search.candidates);
  std::vector<Index> chosen;
  for (const AttentionHead& head : search.best().choice.heads) {
    chosen.push_back(std::ranges::find(heads, head) - heads.begin());
  }
  search.soft = means_of(weights[search.best().choice.step], chosen);
  return search;
}

}  // namespace heed
