// How the rows of a problem are cut into tiles, and those into units of parallel work: some tiles that meet the same
// keys. No bit depends on it.
//
//   LaneCut cut(problem);
//   for (Index unit = 0; unit < cut.units(); ++unit) compute(cut.unit(unit).tiles());
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "heed/base/parallel.h"
#include "heed/ops/attention/plans/lane_work.h"

namespace heed {

class LaneCut {
 public:
  // The tiles of a unit.
  struct Unit {
    std::array<RowTile, LaneWork::kMostTiles> tiles;
    std::size_t count = 0;
    operator std::span<const RowTile>() const { return {tiles.data(), count}; }
  };

  explicit LaneCut(const AttentionProblem& c) : c_(c), of_head_((c.queries + LaneWork::kRows - 1) / LaneWork::kRows) {
    // As many tiles as share the work of reading the keys, but some units for each thread.
    const Index all = c.batch * c.heads * of_head_, wanted = Index{4} * thread_count();
    most_ = std::clamp<Index>(all / wanted, 1, std::min(LaneWork::kMostTiles, std::max<Index>(tiles_of_group(), 1)));
    of_group_ = (tiles_of_group() + most_ - 1) / most_;
  }

  Index most() const { return most_; }  // tiles of a unit
  Index units() const { return c_.batch * c_.key_heads * of_group_; }
  // Units that are worth handing to a thread.
  Index grain() const {
    constexpr double kEnough = 1 << 20;  // multiply-adds
    const double rows = static_cast<double>(std::min(c_.queries, LaneWork::kRows) * most_);
    return grain_of(rows * static_cast<double>(c_.keys) * static_cast<double>(c_.width + c_.value_width), kEnough);
  }

  // Those with the last rows first: under a causal mask they are the longest.
  Unit unit(Index nth) const {
    const Index number = units() - 1 - nth, b = number / of_group_ / c_.key_heads,
                g = number / of_group_ % c_.key_heads;
    const Index first = number % of_group_ * most_, last = std::min(tiles_of_group(), first + most_);
    Unit unit;
    for (Index at = first; at < last; ++at) {
      const Index begin = at % of_head_ * LaneWork::kRows;
      unit.tiles[unit.count++] = {
          b, g * c_.group + at / of_head_, {begin, std::min(c_.queries, begin + LaneWork::kRows)}};
    }
    return unit;
  }

 private:
  Index tiles_of_group() const { return c_.group * of_head_; }

  const AttentionProblem& c_;
  Index of_head_, most_ = 1, of_group_ = 0;
};

}  // namespace heed
