#include "heed/ops/attention/plans/lane_tile.h"

#include <algorithm>

namespace heed {

Index most_lanes(const AttentionProblem& c) {
  const Index lanes =
      (std::max<Index>(c.queries, 1) + kernels::kLaneUnit - 1) / kernels::kLaneUnit * kernels::kLaneUnit;
  return std::min(lanes, LaneTile::kRows);
}

Index tiles_of_group(const AttentionProblem& c) {
  return c.group * ((c.queries + LaneTile::kRows - 1) / LaneTile::kRows);
}

RowTile tile_of_group(const AttentionProblem& c, Index b, Index g, Index nth) {
  const Index of_head = tiles_of_group(c) / c.group, begin = nth % of_head * LaneTile::kRows;
  return {b, g * c.group + nth / of_head, {begin, std::min(c.queries, begin + LaneTile::kRows)}};
}

}  // namespace heed
