// How the rows of a key/value head are cut into tiles: every plan that adds up dk and dv in tiles cuts them there.
#pragma once

#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

// Rows of a tile at most: a row to each lane of a block. Fixed, since the sums of dk and dv are cut there.
inline constexpr Index kTileRows = kernels::kMostLanes;

// Some rows of a head.
struct RowTile {
  Index b, h;
  Range rows;
};

// The tiles, of `rows` at most, of the query heads that share a key/value head, a head's after another's.
Index tiles_of_group(const AttentionProblem& c, Index rows = kTileRows);
RowTile tile_of_group(const AttentionProblem& c, Index b, Index g, Index nth, Index rows = kTileRows);

}  // namespace heed
