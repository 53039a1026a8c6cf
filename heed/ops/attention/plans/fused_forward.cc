#include <algorithm>
#include <span>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_apart.h"
#include "heed/kernels/pair_unit.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/fused_periodic.h"
#include "heed/ops/attention/plans/lane_carry.h"
#include "heed/ops/attention/plans/lane_cut.h"
#include "heed/ops/attention/plans/lane_sums.h"
#include "heed/ops/attention/plans/lane_work.h"
#include "heed/ops/attention/plans/periodic_parts.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {
namespace {

// Tiles of query heads that share a key/value head, against every key that they may see.
class FusedTiles {
 public:
  FusedTiles(const AttentionProblem& problem, const AttentionResult& wanted, const LaneCarry& carried, LaneWork& thread)
      : c(problem),
        result(wanted),
        carry_(carried),
        normaliser_(*lane_normaliser(problem.spec.normaliser.kind)),
        work_(thread) {}

  void compute(std::span<const RowTile> rows) {
    const std::span<LaneTile> tiles = work_.turn_to(rows);
    for (LaneTile& tile : tiles) {
      begin_sums(tile);
      if (!carry_.first) take_up(tile);
    }
    work_.for_blocks(tiles, work_.all_keys(), false, [&](LaneTile& tile, const LaneBlock& block) {
      if (result.out && (carry_.apart || block.parts.leaves_lanes_out())) {
        tile.start_zeroed(tile.out_lanes, c.value_width);
      }
      block.parts.by_keys([&](const kernels::LanePart& part) { work_.products().scores(tile, part, work_.scores()); });
      carry_.apart ? add_apart(tile, block) : add(tile, block);
      tile.started = true;
    });
    for (const LaneTile& tile : tiles) {
      if (!carry_.last) {
        put_down(tile);
        continue;
      }
      finish_sums(c, normaliser_, tile, result.row_stat);
      if (result.out) store_out(tile);
    }
    if (result.scores) store_scores(tiles);
    if (result.weights) store_weights(tiles);
  }

 private:
  void add(const LaneTile& tile, const LaneBlock& block) {
    work_.products().weigh(tile, block.passes, block.parts.by_lanes(), work_.scores());
    if (!result.out) return;
    for (const kernels::LanePart& part : block.parts.by_lanes()) {
      work_.products().add_values(tile, part, work_.scores());
    }
  }
  void add_apart(const LaneTile& tile, const LaneBlock& block) {
    for (const kernels::LanePart& part : block.parts.by_lanes()) {
      kernels::softmax_apart(block.passes, part, work_.scores(), tile.sums(), work_.decays());
      if (result.out) work_.products().add_values_apart(tile, part, work_.scores(), work_.decays());
    }
  }

  // What an earlier sweep has added up, and what this one leaves to a later one.
  void take_up(LaneTile& tile) const {
    const auto& [b, h, rows] = tile.rows;
    for (Index r = 0; r < rows.size(); ++r) {
      tile.top[r] = carry_.top.at<float>({b, h, rows.begin + r});
      tile.sum[r] = carry_.sum.at<float>({b, h, rows.begin + r});
    }
    if (!result.out) return;
    kernels::rows_to_lanes(rows.size(), c.value_width, &result.out.at<float>({b, h, rows.begin}), result.out.stride[2],
                           tile.out_lanes, tile.lanes);
    tile.started = true;
  }
  void put_down(const LaneTile& tile) const {
    const auto& [b, h, rows] = tile.rows;
    for (Index r = 0; r < rows.size(); ++r) {
      carry_.top.at<float>({b, h, rows.begin + r}) = tile.top[r];
      carry_.sum.at<float>({b, h, rows.begin + r}) = tile.sum[r];
    }
    if (!result.out || !tile.started) return;
    kernels::lanes_to_rows(rows.size(), c.value_width, tile.out_lanes, tile.lanes, nullptr,
                           &result.out.at<float>({b, h, rows.begin}), result.out.stride[2]);
  }

  void store_out(const LaneTile& tile) {
    const auto& [b, h, range] = tile.rows;
    const Index rows = range.size();
    const bool direct = c.dtype == DType::f32;
    const FloatRows out = direct ? FloatRows{&result.out.at<float>({b, h, range.begin}), result.out.stride[2]}
                                 : FloatRows{work_.narrow_rows(), c.value_width};
    if (tile.started) {
      kernels::lanes_to_rows(rows, c.value_width, tile.out_lanes, tile.lanes, tile.factor, out.data, out.row);
    } else {
      for (Index r = 0; r < rows; ++r) std::fill_n(out.data + r * out.row, c.value_width, 0.0f);
    }
    if (!direct) store_rows(out, result.out, b, h, range);
    if (!carry_.active()) repair_rows(c, result.out, tile.rows);
  }

  // Writes the scores at work to the keys of a block in rows of a [B, H, Lq, Lk] view.
  void copy_out(const View& view, const LaneTile& tile, Range keys) {
    work_.for_rows(tile, work_.scores(), keys.size(), [&](Index r, const float* row) {
      store_row(row, keys.size(), view, view.offset({tile.rows.b, tile.rows.h, tile.rows.rows.begin + r, keys.begin}));
    });
  }

  static void fill_rows(const View& view, const RowTile& tile, float value) {
    fill(slice(select(select(view, 0, tile.b), 0, tile.h), 0, tile.rows.begin, tile.rows.end), value);
  }

  void store_scores(std::span<LaneTile> tiles) {
    const bool masked = result.score_stage == ScoreStage::masked;
    for (const LaneTile& tile : tiles) fill_rows(result.scores, tile.rows, kMinusInfinity);
    work_.for_blocks(tiles, work_.all_keys(), !masked, [&](const LaneTile& tile, const LaneBlock& block) {
      work_.products().scores(tile, block.passes.whole(), work_.scores());
      kernels::AttentionLanes stage = block.passes;
      if (!masked) stage.bias = nullptr, stage.allowed = nullptr;
      if (result.score_stage == ScoreStage::raw) stage.cap = 0;
      kernels::score_lanes(stage, work_.scores());
      copy_out(result.scores, tile, block.keys);
    });
  }

  void store_weights(std::span<LaneTile> tiles) {
    for (const LaneTile& tile : tiles) {
      fill_rows(result.weights, tile.rows, 0);
      for (Index r = 0; r < tile.lanes; ++r) tile.factor[r] = normaliser_.sums_to_one ? 1.0f / tile.sum[r] : 1.0f;
    }
    work_.for_blocks(tiles, work_.all_keys(), false, [&](const LaneTile& tile, const LaneBlock& block) {
      work_.products().scores(tile, block.passes.whole(), work_.scores());
      normaliser_.weigh(block.passes, tile.top, tile.factor, work_.scores());
      copy_out(result.weights, tile, block.keys);
    });
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  const LaneCarry& carry_;
  const kernels::LaneNormaliser& normaliser_;
  LaneWork& work_;
};

}  // namespace

Index fused_sweep_bytes(const AttentionProblem& c) {
  return LaneWork::bytes(c, LaneNumbers::f32, LaneWork::Pass::forward,
                         std::min(tiles_of_group(c), LaneWork::kMostTiles));
}

void fused_sweep(const AttentionProblem& c, Index b, Index g, const AttentionResult& result, const LaneCarry& carry,
                 char* memory) {
  const Index most = std::min(tiles_of_group(c), LaneWork::kMostTiles);
  LaneWork work(c, LaneNumbers::f32, LaneWork::Pass::forward, most, 0, memory);
  FusedTiles tiles(c, result, carry, work);
  for (Index first = 0; first < tiles_of_group(c); first += most) {
    LaneCut::Unit unit;
    for (Index nth = first; nth < std::min(first + most, tiles_of_group(c)); ++nth) {
      unit.tiles[unit.count++] = tile_of_group(c, b, g, nth);
    }
    tiles.compute(unit);
  }
}

void fused_sweep(const AttentionProblem& c, LaneNumbers numbers, const AttentionResult& result, const LaneCarry& carry,
                 Workspace& workspace) {
  const LaneCut cut(c, numbers == LaneNumbers::bf16 ? kernels::pair_unit()->tile_lanes : kTileRows);
  const Index bytes = LaneWork::bytes(c, numbers, LaneWork::Pass::forward, cut.most());
  parallel_for_with_scratch(workspace, bytes, cut.units(), cut.grain(), [&](Index begin, Index end, char* memory) {
    LaneWork thread(c, numbers, LaneWork::Pass::forward, cut.most(), 0, memory);
    FusedTiles tiles(c, result, carry, thread);
    for (Index unit = begin; unit < end; ++unit) {
      if (unit + 1 < end) thread.prefetch_short(cut.unit(unit + 1).tiles[0]);
      tiles.compute(cut.unit(unit));
    }
  });
}

void fused_forward(const AttentionProblem& c, LaneNumbers numbers, const AttentionResult& result,
                   Workspace& workspace) {
  const bool periodic = numbers == LaneNumbers::f32 && !result.weights && !result.scores && PeriodicParts::fit(c);
  if (periodic) return periodic_forward(c, result, workspace);
  fused_sweep(c, numbers, result, {}, workspace);
}

}  // namespace heed
