#include "heed/testing/covering.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heed::testing {
namespace {

// A combination, and the numbers of the values and pairs that it holds.
struct Candidate {
  Combination at;
  double cost;
  std::vector<Index> holds;
};

class Covering {
 public:
  Covering(const std::vector<Index>& extents, Index paired) : extents_(extents), paired_(paired) {}

  std::vector<Combination> choose(const std::function<double(const Combination&)>& cost) {
    list_candidates(cost);
    std::vector<std::uint8_t> met(static_cast<std::size_t>(numbers_), 0);
    std::vector<Combination> chosen;
    for (;;) {
      const Candidate* best = nullptr;
      Index most = 0;
      for (const Candidate& candidate : candidates_) {
        Index fresh = 0;
        for (Index number : candidate.holds) fresh += met[static_cast<std::size_t>(number)] == 0;
        if (fresh > most || (fresh == most && best != nullptr && candidate.cost < best->cost)) {
          best = &candidate, most = fresh;
        }
      }
      if (best == nullptr) return chosen;
      for (Index number : best->holds) met[static_cast<std::size_t>(number)] = 1;
      chosen.push_back(best->at);
    }
  }

 private:
  Index extent(std::size_t axis) const { return extents_[axis]; }

  void list_candidates(const std::function<double(const Combination&)>& cost) {
    if (std::ranges::any_of(extents_, [](Index n) { return n <= 0; })) return;
    Combination at(extents_.size(), 0);
    for (std::size_t axis = 0; axis != extents_.size();) {
      if (const double price = cost(at); std::isfinite(price)) candidates_.push_back({at, price, held_by(at)});
      for (axis = 0; axis < extents_.size() && ++at[axis] == extent(axis); ++axis) at[axis] = 0;
    }
  }

  std::vector<Index> held_by(const Combination& at) {
    std::vector<Index> holds;
    Index first = 0;
    for (std::size_t a = 0; a < at.size(); ++a) {
      holds.push_back(first + at[a]);
      first += extent(a);
      for (std::size_t b = 0; b < a; ++b) {
        if (std::min(extent(a), extent(b)) > paired_) continue;
        holds.push_back(first + at[a] * extent(b) + at[b]);
        first += extent(a) * extent(b);
      }
    }
    numbers_ = first;
    return holds;
  }

  const std::vector<Index>& extents_;
  const Index paired_;
  Index numbers_ = 0;  // of values and pairs
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<Combination> covering(const std::vector<Index>& extents, Index paired,
                                  const std::function<double(const Combination&)>& cost) {
  return Covering(extents, paired).choose(cost);
}

}  // namespace heed::testing
