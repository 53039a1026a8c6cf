#include <algorithm>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/lane_work.h"
#include "heed/ops/attention/plans/row_runs.h"

namespace heed {
namespace {

// The weights of a tile's rows, from row to_row of head to_head of the result on.
void store_weights(LaneWork& work, Normaliser::Kind kind, const RowTile& rows, const ConstView& row_stat,
                   const View& weights, Index to_head, Index to_row) {
  const Index count = rows.rows.size();
  const View to = slice(select(select(weights, 0, rows.b), 0, to_head), 0, to_row, to_row + count);
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
  const Index heads = weights.shape[1];
  const std::vector<RowRun> runs = row_runs(chosen, weights.shape[2], kTileRows);
  const Index bytes = LaneWork::bytes(c, numbers, LaneWork::Pass::weights, 1),
              units = c.batch * heads * std::ssize(runs);
  const double work = static_cast<double>(kTileRows * c.keys) * static_cast<double>(c.width);
  const Index grain = grain_of(work, kChunkWork);
  parallel_for_with_scratch(workspace, bytes, units, grain, [&](Index begin, Index end, char* memory) {
    LaneWork thread(c, numbers, LaneWork::Pass::weights, 1, 0, memory);
    for (Index unit = begin; unit < end; ++unit) {
      const Index to_head = unit / std::ssize(runs) % heads, b = unit / std::ssize(runs) / heads;
      const RowRun& run = runs[static_cast<std::size_t>(unit % std::ssize(runs))];
      store_weights(thread, c.spec.normaliser.kind, {b, chosen.head(to_head), run.rows}, row_stat, weights, to_head,
                    run.at);
    }
  });
}

}  // namespace heed
