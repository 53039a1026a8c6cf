#include "heed/metrics/ngrams.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace heed {

std::vector<std::vector<std::uint32_t>> number_words(std::span<const std::vector<std::u32string>> sequences) {
  std::unordered_map<std::u32string_view, std::uint32_t> numbers;
  std::vector<std::vector<std::uint32_t>> numbered;
  for (const std::vector<std::u32string>& words : sequences) {
    std::vector<std::uint32_t>& row = numbered.emplace_back();
    row.reserve(words.size());
    for (const std::u32string& word : words) {
      row.push_back(numbers.try_emplace(word, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
  }
  return numbered;
}

NgramCounts::NgramCounts(std::vector<std::vector<std::uint32_t>> sequences) : symbols_(std::move(sequences)) {
  std::vector<std::vector<std::uint64_t>> keys;
  for (const std::vector<std::uint32_t>& row : symbols_) keys.emplace_back(row.begin(), row.end());
  rank(keys);
}

void NgramCounts::next_order() {
  // An n-gram is the (n-1)-gram that begins with it, and its last symbol.
  std::vector<std::vector<std::uint64_t>> keys(symbols_.size());
  for (std::size_t s = 0; s < symbols_.size(); ++s) {
    const Index count = static_cast<Index>(symbols_[s].size()) - order_;
    for (Index i = 0; i < count; ++i) keys[s].push_back(std::uint64_t{ranks_[s][i]} << 32 | symbols_[s][i + order_]);
  }
  ++order_;
  rank(keys);
}

void NgramCounts::rank(const std::vector<std::vector<std::uint64_t>>& keys) {
  std::vector<std::uint64_t> all;
  for (const std::vector<std::uint64_t>& row : keys) all.insert(all.end(), row.begin(), row.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  distinct_ = static_cast<Index>(all.size());
  ranks_.assign(keys.size(), {});
  for (std::size_t s = 0; s < keys.size(); ++s) {
    ranks_[s].reserve(keys[s].size());
    for (const std::uint64_t key : keys[s]) {
      ranks_[s].push_back(static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), key) - all.begin()));
    }
  }
}

std::vector<Index> NgramCounts::counts(Index sequence) const {
  std::vector<Index> counts(distinct_);
  for (const std::uint32_t rank : ranks_[sequence]) ++counts[rank];
  return counts;
}

Index clipped_matches(std::span<const Index> a, std::span<const Index> b) {
  Index matches = 0;
  for (std::size_t r = 0; r < a.size(); ++r) matches += std::min(a[r], b[r]);
  return matches;
}

}  // namespace heed
