#include <algorithm>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/plans/chosen_rows.h"
#include "heed/ops/attention/plans/tile.h"
#include "heed/ops/attention/plans/tile_work.h"

namespace heed {
namespace {

// One tile: its rows against every key that they may see, a block at a time.
class WeightTile {
 public:
  WeightTile(const AttentionProblem& problem, const ConstView& row_stat, TileWork& thread)
      : score_(*tile_score(problem.spec.score.kind)),
        normaliser_(*tile_normaliser(problem.spec.normaliser.kind)),
        row_stat_(row_stat),
        work_(thread) {}

  // To [rows, Lk].
  void compute(const RowTile& tile, const View& to) {
    const Index count = tile.rows.size();
    fill(to, 0);
    for (Index r = 0; r < count; ++r) {
      work_.stat()[r] = row_stat_.at<float>({tile.b, tile.h, tile.rows.begin + r});
      work_.delta()[r] = 0;
    }
    const TileWork::Queries q = work_.queries(tile);
    for (const KeyBlock& block : work_.open_blocks(tile, false)) {
      score_.products(work_.operands(tile, q, block.keys), work_.tile(), work_.stride(), nullptr);
      kernels::AttentionRows passes = work_.passes(tile, &block, 1);
      passes.bits = nullptr, passes.keep_scale = 1;  // before dropout
      // The weights are what the gradients are made from; those, of no flow, are zero.
      std::fill_n(work_.dtile(), count * work_.stride(), 0.0f);
      normaliser_.gradients(passes, work_.stat(), work_.delta(), work_.tile(), work_.dtile(), nullptr);
      for (Index r = 0; r < count; ++r) {
        store_row(work_.tile() + r * work_.stride(), block.keys.size(), to, to.offset({r, block.keys.begin}));
      }
    }
  }

 private:
  const TileScore& score_;
  const kernels::AttentionNormaliser& normaliser_;
  const ConstView& row_stat_;
  TileWork& work_;
};

}  // namespace

void tiled_weights(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                   const View& weights, Workspace& workspace) {
  const Index columns = std::min(c.keys, kernels::kGemmTileDepth);
  const ChosenRows rows(chosen, weights, kTileRows);
  const Index bytes = TileWork::bytes(c, kTileRows, columns, TileWork::Pass::weights);
  const double work = static_cast<double>(kTileRows * c.keys) * static_cast<double>(c.width);
  const Index grain = grain_of(work, kChunkWork);
  parallel_for_with_scratch(workspace, bytes, rows.units(), grain, [&](Index begin, Index end, char* memory) {
    TileWork thread(c, memory, kTileRows, columns, TileWork::Pass::weights);
    WeightTile tile(c, row_stat, thread);
    for (Index unit = begin; unit < end; ++unit) tile.compute(rows.rows(unit), rows.to(unit));
  });
}

}  // namespace heed
