// Chosen rows of chosen heads, cut into runs that follow one another, each a thread's errand.
#pragma once

#include <vector>

#include "heed/ops/attention/plans/row_tiles.h"
#include "heed/ops/attention/spec/results.h"

namespace heed {

class ChosenRows {
 public:
  // For weights [B, H', R', Lk], in runs of `longest` rows at most.
  ChosenRows(const AttentionSelection& chosen, const View& weights, Index longest)
      : chosen_(chosen), weights_(weights) {
    for (Index at = 0; at < weights.shape[2]; ++at) {
      const Index row = chosen.row(at);
      const bool follows = !runs_.empty() && runs_.back().rows.end == row && runs_.back().rows.size() < longest;
      if (follows) {
        ++runs_.back().rows.end;
      } else {
        runs_.push_back({{row, row + 1}, at});
      }
    }
  }

  Index units() const { return weights_.shape[0] * weights_.shape[1] * std::ssize(runs_); }
  RowTile rows(Index unit) const { return {batch(unit), chosen_.head(head(unit)), run(unit).rows}; }
  // Where their weights go, [rows, Lk].
  View to(Index unit) const {
    const auto& [rows, at] = run(unit);
    return slice(select(select(weights_, 0, batch(unit)), 0, head(unit)), 0, at, at + rows.size());
  }

 private:
  // Rows that follow one another, and where in the result the first of them stands.
  struct Run {
    Range rows;
    Index at;
  };
  const Run& run(Index unit) const { return runs_[static_cast<std::size_t>(unit % std::ssize(runs_))]; }
  Index head(Index unit) const { return unit / std::ssize(runs_) % weights_.shape[1]; }
  Index batch(Index unit) const { return unit / std::ssize(runs_) / weights_.shape[1]; }

  const AttentionSelection& chosen_;
  const View& weights_;
  std::vector<Run> runs_;
};

}  // namespace heed
