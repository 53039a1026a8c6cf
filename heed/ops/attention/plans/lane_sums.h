// The sums of a tile's rows over the keys: how they begin, and what they come to.
#pragma once

#include "heed/ops/attention/plans/lane_tile.h"

namespace heed {

void begin_sums(const LaneTile& tile);

// Takes the sink into the sums of the rows that have a key, leaves in `factor` what the output is multiplied by, and
// stores the statistic, where it is wanted.
void finish_sums(const AttentionProblem& c, const kernels::LaneNormaliser& normaliser, const LaneTile& tile,
                 const View& row_stat);

}  // namespace heed
