#include "heed/ops/attention/plans/lane_tile.h"

#include <algorithm>

namespace heed {

Index most_lanes(const AttentionProblem& c) {
  return std::min(round_up(std::max<Index>(c.queries, 1), kernels::kLaneUnit), kTileRows);
}

}  // namespace heed
