// How the rows of a problem are cut into tiles, and those into units of parallel work: some tiles that meet the same
// keys. No bit depends on it.
//
//   LaneCut cut(problem);
//   for (Index unit = 0; unit < cut.units(); ++unit) compute(cut.unit(unit));
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "heed/base/parallel.h"
#include "heed/ops/attention/plans/lane_work.h"

namespace heed {

class LaneCut {
 public:
  static constexpr Index kLeastTileRows = kTileRows / 2;

  // The tiles of a unit: of as many rows as LaneWork::kMostTiles have at most.
  struct Unit {
    static constexpr Index kMostRows = LaneWork::kMostTiles * kTileRows;
    std::array<RowTile, kMostRows / kLeastTileRows> tiles;
    std::size_t count = 0;
    operator std::span<const RowTile>() const { return {tiles.data(), count}; }
  };

  // Into tiles of `tile_rows` at most, from kLeastTileRows to kTileRows.
  LaneCut(const AttentionProblem& c, Index tile_rows)
      : c_(c),
        heads_in_turn_(c.key_heads > 1 && c.bias.is_shared_by_heads()),
        tile_rows_(tile_rows),
        tiles_(tiles_of_group(c, tile_rows)) {
    // As many tiles as share the work of reading the keys, but some units for each thread.
    const Index all = c.batch * c.key_heads * tiles_, wanted = Index{4} * thread_count();
    const Index rows = heads_in_turn_ ? kRowsInTurn : Unit::kMostRows;
    most_ = std::clamp<Index>(all / wanted, 1, std::min(rows / tile_rows, std::max<Index>(tiles_, 1)));
    of_group_ = ceil_div(tiles_, most_);
  }

  Index most() const { return most_; }  // tiles of a unit
  Index units() const { return c_.batch * c_.key_heads * of_group_; }
  // Units that are worth handing to a thread.
  Index grain() const {
    constexpr double kEnough = 1 << 20;  // multiply-adds
    const double rows = static_cast<double>(std::min(c_.queries, tile_rows_) * most_);
    return grain_of(rows * static_cast<double>(c_.keys) * static_cast<double>(c_.width + c_.value_width), kEnough);
  }

  // Those with the last rows first: under a causal mask they are the longest.
  Unit unit(Index nth) const {
    const Index number = units() - 1 - nth, b = number / of_group_ / c_.key_heads;
    const Index g = heads_in_turn_ ? number % c_.key_heads : number / of_group_ % c_.key_heads;
    const Index of_head = heads_in_turn_ ? number / c_.key_heads % of_group_ : number % of_group_;
    const Index first = of_head * most_, last = std::min(tiles_, first + most_);
    Unit unit;
    for (Index at = first; at < last; ++at) unit.tiles[unit.count++] = tile_of_group(c_, b, g, at, tile_rows_);
    return unit;
  }

 private:
  // So many rows of a bias that heads share are still in the second cache when the next head meets them.
  static constexpr Index kRowsInTurn = 4 * kTileRows;

  const AttentionProblem& c_;
  bool heads_in_turn_;                                 // meet the rows of a unit
  Index tile_rows_, tiles_, most_ = 1, of_group_ = 0;  // of a group, of a unit, and how many units a group has
};

}  // namespace heed
