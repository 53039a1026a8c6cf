#include <algorithm>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/heads_ahead.h"
#include "heed/ops/attention/plans/lane_sums.h"
#include "heed/ops/attention/plans/lane_work.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/plans/short.h"

namespace heed {
namespace {

class ShortHeads {
 public:
  ShortHeads(const AttentionProblem& problem, const AttentionResult& wanted, LaneWork& thread)
      : c(problem), result(wanted), work_(thread) {}

  // What compute() reads and writes of a head.
  HeadsAhead rows_of(Index b, Index h) const {
    HeadsAhead ahead;
    ahead.add(c.q, b, h), ahead.add(c.k.view(), b, h / c.group), ahead.add(c.v.view(), b, h / c.group);
    ahead.add(result.out, b, h);
    return ahead;
  }

  // `next`: of the head after this one.
  void compute(Index b, Index h, HeadsAhead& next) {
    const RowTile rows{b, h, {0, c.queries}};
    const std::span<LaneTile> tiles = work_.turn_to({&rows, 1});
    LaneTile& tile = tiles.front();
    begin_sums(tile);
    next.ask(4);
    work_.for_blocks(tiles, work_.all_keys(), false, [&](LaneTile&, const LaneBlock& block) {
      block.parts.by_keys([&](const kernels::LanePart& part) { work_.products().scores(tile, part, work_.scores()); });
      next.ask(3);
      kernels::kSoftmaxLanes.add(block.passes, block.parts.by_lanes(), work_.scores(), tile.sums());
      tile.started = true;
      next.ask(2);
      finish_sums(c, kernels::kSoftmaxLanes, tile, result.row_stat);
      if (block.parts.leaves_lanes_out()) clear_out(rows);
      for (const kernels::LanePart& part : block.parts.by_lanes()) store_out(tile, part);
    });
    if (!tile.started) {
      finish_sums(c, kernels::kSoftmaxLanes, tile, result.row_stat);
      clear_out(rows);
    }
    next.ask(1);
    repair_rows(c, result.out, rows);
  }

 private:
  float* out_row(const RowTile& tile, Index row) const { return &result.out.at<float>({tile.b, tile.h, row}); }

  void clear_out(const RowTile& tile) const {
    for (Index row = tile.rows.begin; row < tile.rows.end; ++row) std::fill_n(out_row(tile, row), c.value_width, 0.0f);
  }

  void store_out(const LaneTile& tile, const kernels::LanePart& part) const {
    const Index key = part.first_key, row = part.first_lane;
    const Index values_row = c.v.view().stride[2];
    kernels::gemm_tile({.m = std::min(part.end_lane, c.queries) - row,
                        .n = c.value_width,
                        .k = part.keys(),
                        .a = {work_.scores() + key * tile.lanes + row, 1, tile.lanes},
                        .b = {&c.v.view().at<float>({tile.rows.b, tile.rows.h / c.group, key}), values_row},
                        .c = out_row(tile.rows, row),
                        .c_row = result.out.stride[2],
                        .row_alpha = tile.factor + row});
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  LaneWork& work_;
};

}  // namespace

void short_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  if (!is_short(c) || !result.out || result.weights || result.scores) {
    return fused_forward(c, LaneNumbers::f32, result, workspace);
  }
  const Index bytes = LaneWork::bytes(c, LaneNumbers::f32, LaneWork::Pass::forward, 1), units = c.batch * c.heads;
  parallel_for_with_scratch(workspace, bytes, units, short_grain(c), [&](Index begin, Index end, char* memory) {
    LaneWork thread(c, LaneNumbers::f32, LaneWork::Pass::forward, 1, 0, memory);
    ShortHeads heads(c, result, thread);
    for (Index unit = begin; unit < end; ++unit) {
      const Index next = unit + 1;
      HeadsAhead ahead = next < end ? heads.rows_of(next / c.heads, next % c.heads) : HeadsAhead();
      heads.compute(unit / c.heads, unit % c.heads, ahead);
    }
  });
}

}  // namespace heed
