#include "heed/ops/attention/plans/row_tiles.h"

#include <algorithm>

namespace heed {

Index tiles_of_group(const AttentionProblem& c, Index rows) { return c.group * ceil_div(c.queries, rows); }

RowTile tile_of_group(const AttentionProblem& c, Index b, Index g, Index nth, Index rows) {
  const Index of_head = ceil_div(c.queries, rows), begin = nth % of_head * rows;
  return {b, g * c.group + nth / of_head, {begin, std::min(c.queries, begin + rows)}};
}

}  // namespace heed
