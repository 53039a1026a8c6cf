#include <algorithm>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/plans/chosen_rows.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/lane_work.h"

namespace heed {
namespace {

// The weights of a tile's rows, to [rows, Lk].
void store_weights(LaneWork& work, Normaliser::Kind kind, const RowTile& rows, const ConstView& row_stat,
                   const View& to) {
  const Index count = rows.rows.size();
  fill(to, 0);
  const std::span<LaneTile> tiles = work.turn_to({&rows, 1});
  std::fill_n(tiles[0].stat(), tiles[0].lanes, 0.0f);
  std::fill_n(tiles[0].factor, tiles[0].lanes, 1.0f);
  for (Index r = 0; r < count; ++r) tiles[0].stat()[r] = row_stat.at<float>({rows.b, rows.h, rows.rows.begin + r});
  work.for_blocks(tiles, work.all_keys(), false, [&](const LaneTile& tile, const LaneBlock& block) {
    work.products().scores(tile, block.passes.whole(), work.scores());
    lane_normaliser(kind)->weigh(block.passes, tile.stat(), tile.factor, work.scores());
    work.for_rows(tile, work.scores(), block.keys.size(), [&](Index r, const float* row) {
      store_row(row, block.keys.size(), to, to.offset({r, block.keys.begin}));
    });
  });
}

}  // namespace

void fused_weights(const AttentionProblem& c, LaneNumbers numbers, const ConstView& row_stat,
                   const AttentionSelection& chosen, const View& weights, Workspace& workspace) {
  const ChosenRows rows(chosen, weights, kTileRows);
  const Index bytes = LaneWork::bytes(c, numbers, LaneWork::Pass::weights, 1);
  const double work = static_cast<double>(kTileRows * c.keys) * static_cast<double>(c.width);
  const Index grain = grain_of(work, kChunkWork);
  parallel_for_with_scratch(workspace, bytes, rows.units(), grain, [&](Index begin, Index end, char* memory) {
    LaneWork thread(c, numbers, LaneWork::Pass::weights, 1, 0, memory);
    for (Index unit = begin; unit < end; ++unit) {
      store_weights(thread, c.spec.normaliser.kind, rows.rows(unit), row_stat, rows.to(unit));
    }
  });
}

}  // namespace heed
