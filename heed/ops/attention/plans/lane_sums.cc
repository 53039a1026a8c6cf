#include "heed/ops/attention/plans/lane_sums.h"

#include <algorithm>

#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

void begin_sums(const LaneTile& tile) {
  std::fill_n(tile.top, tile.lanes, kMinusInfinity);
  std::fill_n(tile.sum, tile.lanes, 0.0f);
}

void finish_sums(const AttentionProblem& c, const kernels::LaneNormaliser& normaliser, const LaneTile& tile,
                 const View& row_stat) {
  const auto& [b, h, rows] = tile.rows;
  if (normaliser.sums_to_one) {
    kernels::softmax_lane_shares(tile.lanes, c.sink<float>(h), tile.sums(), tile.factor);
  } else {
    std::fill_n(tile.factor, tile.lanes, 1.0f);
  }
  if (!row_stat) return;
  float stat[kTileRows];
  if (normaliser.sums_to_one) {
    kernels::softmax_lane_statistics(tile.lanes, tile.sums(), stat);
  } else {
    for (Index r = 0; r < rows.size(); ++r) {
      const bool has_no_key = tile.top[r] == kMinusInfinity && tile.sum[r] == 0;
      stat[r] = has_no_key ? kMinusInfinity : 0.0f;
    }
  }
  for (Index r = 0; r < rows.size(); ++r) row_stat.at<float>({b, h, rows.begin + r}) = stat[r];
}

}  // namespace heed
