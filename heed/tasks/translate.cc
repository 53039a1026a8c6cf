#include "heed/tasks/translate.h"

#include <algorithm>
#include <numeric>

#include "heed/base/check.h"
#include "heed/tasks/model_batch.h"

namespace heed {

Translator::Translator(const TranslationModel& model, const Vocabulary& source, const Vocabulary& target)
    : model_(model), source_(source), target_(target) {}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> lines,
                                                            const BeamOptions& options, std::string_view name,
                                                            Index first_line, Index batch_tokens) {
  std::vector<std::vector<Translation>> results(lines.size());
  std::vector<std::vector<int>> ids(lines.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ids[i] = source_.encode(lines[i]);
    HEED_CHECK(static_cast<Index>(ids[i].size()) + 1 <= model_.max_length(),
               "{}:{}: the sentence has {} tokens, and the model can hold {}", name, first_line + static_cast<Index>(i),
               ids[i].size(), model_.max_length() - 1);
    if (ids[i].empty()) {
      results[i].emplace_back();
    } else {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ids[a].size() < ids[b].size(); });
  const SpecialTokens special{target_.begin(), target_.end(), target_.pad(), target_.unknown()};
  // Rows are beams of sentences: a wide beam takes fewer sentences at a time.
  const Index budget = std::max<Index>(1, batch_tokens * 5 / std::max<Index>(5, options.beam));
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    const auto padded = [&](std::size_t last) {
      return static_cast<Index>((last - begin + 1) * (ids[order[last]].size() + 1));
    };
    while (end < order.size() && padded(end) <= budget) ++end;
    std::vector<std::vector<int>> sentences;
    for (std::size_t i = begin; i < end; ++i) sentences.push_back(ids[order[i]]);
    const auto hypotheses = beam_search(model_, make_token_batch(sentences), options, special, workspace_);
    for (std::size_t i = begin; i < end; ++i) {
      for (const Hypothesis& h : hypotheses[i - begin]) {
        results[order[i]].push_back({target_.decode(h.tokens), h.score, h.tokens, h.token_scores});
      }
    }
    begin = end;
  }
  return results;
}

}  // namespace heed
