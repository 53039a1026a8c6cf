// How well counts alone predict text: the yardstick beside a language model's perplexity.
//
//   NgramModel counts(5);
//   for (const std::vector<int>& document : training) counts.add(document);   // begin, ids, end
//   counts.finish(vocabulary_size);
//   double nats = counts.log_probability(document);                            // of all but its first id
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// Interpolated Kneser-Ney smoothing (Kneser and Ney 1995; Chen and Goodman 1999, section 3): an n-gram's count less the
// order's discount D = n1 / (n1 + 2 n2), where n1 and n2 n-grams were seen once and twice; what that frees goes to the
// shorter history, whose counts are of the different ids before it, and at last to all ids alike. N-grams at the
// beginning of a document have nothing before them and keep their counts. Order 1 is the ids' frequencies.
class NgramModel {
 public:
  // Throws heed::Error unless order is from 1 to 8.
  explicit NgramModel(int order);

  // Counts a document: its first id is only ever looked back at. Throws heed::Error after finish, and for an id
  // below 0.
  void add(std::span<const int> document);
  // Ends the counting; ids are in [0, ids). Throws heed::Error where nothing was counted or an id was not below it.
  void finish(Index ids);

  // The natural logarithm of the probability of `id` after `history`, of which the last order - 1 ids count; the first
  // id of a document begins every history that reaches back to it.
  double log_probability(std::span<const int> history, int id) const;
  // The sum over a document of all but its first id.
  double log_probability(std::span<const int> document) const;

 private:
  using Key = std::u32string;
  struct Order {
    struct Context {
      double total = 0;      // of the counts of what follows
      double followers = 0;  // different ids that follow
    };
    std::unordered_map<Key, double> counts;     // of n-grams
    std::unordered_map<Key, Context> contexts;  // of what stands before their last id
    double discount = 0.5;
  };

  double probability(const Key& history, char32_t id) const;

  std::vector<Order> orders_;  // [n - 1] is of n-grams
  char32_t greatest_ = 0;
  Index ids_ = 0;  // 0: still counting
};

}  // namespace heed
