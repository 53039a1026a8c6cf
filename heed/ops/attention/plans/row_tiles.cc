#include "heed/ops/attention/plans/row_tiles.h"

#include <algorithm>

namespace heed {

Index tiles_of_group(const AttentionProblem& c) { return c.group * ceil_div(c.queries, kTileRows); }

RowTile tile_of_group(const AttentionProblem& c, Index b, Index g, Index nth) {
  const Index of_head = ceil_div(c.queries, kTileRows), begin = nth % of_head * kTileRows;
  return {b, g * c.group + nth / of_head, {begin, std::min(c.queries, begin + kTileRows)}};
}

}  // namespace heed
