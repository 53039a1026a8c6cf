#include "heed/ops/attention/plans/lane_sums.h"

#include <algorithm>
#include <cmath>

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
  for (Index r = 0; r < rows.size(); ++r) {
    // A row has no key. (The largest of scores that are NaN may be anything, but their sum is NaN.)
    const bool dead = tile.top[r] == kMinusInfinity && tile.sum[r] == 0;
    const float whole = normaliser.sums_to_one ? tile.top[r] + std::log(tile.sum[r]) : 0.0f;
    row_stat.at<float>({b, h, rows.begin + r}) = dead ? kMinusInfinity : whole;
  }
}

}  // namespace heed
