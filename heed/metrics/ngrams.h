// Counts of the n-grams of a segment's hypothesis and references, order by order.
//
//   NgramCounts ngrams(number_words(words));             // words[0]: the hypothesis, then its references
//   Index matches = clipped_matches(ngrams.counts(0), ngrams.counts(1));
//   ngrams.next_order();                                 // from words to pairs of words
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed {

// Gives equal words equal numbers, in every sequence.
std::vector<std::vector<std::uint32_t>> number_words(std::span<const std::vector<std::u32string>> sequences);

// Exact: an n-gram is known by its rank among those of its order, found by sorting, and never by a hash alone.
class NgramCounts {
 public:
  // Starts at order 1.
  explicit NgramCounts(std::vector<std::vector<std::uint32_t>> sequences);

  void next_order();

  // How many n-grams of the present order a sequence has: max(0, length - order + 1).
  Index total(Index sequence) const { return static_cast<Index>(ranks_[sequence].size()); }
  // How often each distinct n-gram of the present order, over all sequences, is in this one: indexed by its rank.
  std::vector<Index> counts(Index sequence) const;

 private:
  // Replaces ranks_ by the ranks of keys[s][i] among all keys.
  void rank(const std::vector<std::vector<std::uint64_t>>& keys);

  std::vector<std::vector<std::uint32_t>> symbols_;
  std::vector<std::vector<std::uint32_t>> ranks_;  // ranks_[s][i]: of the n-gram of sequence s that begins at i
  Index distinct_ = 0;
  Index order_ = 1;
};

// The sum of min(a[r], b[r]): how many n-grams of a find a partner in b.
Index clipped_matches(std::span<const Index> a, std::span<const Index> b);

}  // namespace heed
