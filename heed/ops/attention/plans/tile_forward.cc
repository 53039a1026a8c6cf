#include <algorithm>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/plans/tile.h"
#include "heed/ops/attention/plans/tile_work.h"

namespace heed {
namespace {

constexpr Index kTileFloats = 96 * 1024;  // of a forward tile, which stays in L2: 384 KiB

Index forward_rows(const AttentionProblem& c) {
  const Index rows = std::clamp<Index>(kTileFloats / (c.keys + kernels::kAttentionLanes) / 8 * 8, 8, 64);
  return std::min(std::max<Index>(c.queries, 1), rows);
}

// One tile: its rows against every key that they may see.
class ForwardTile {
 public:
  ForwardTile(const AttentionProblem& problem, const AttentionResult& wanted, TileWork& thread)
      : score_(*tile_score(problem.spec.score.kind)),
        normaliser_(*tile_normaliser(problem.spec.normaliser.kind)),
        c(problem),
        result(wanted),
        work_(thread) {}

  void compute(const RowTile& rows) {
    tile_ = rows;
    blocks_ = work_.open_blocks(tile_, result.scores && result.score_stage != ScoreStage::masked);
    const TileWork::Queries q = work_.queries(tile_);
    for (const KeyBlock& block : blocks_) {
      score_.products(work_.operands(tile_, q, block.keys), work_.tile() + block.column, work_.stride(), nullptr);
    }
    kernels::AttentionRows passes = work_.passes(tile_, blocks_.data(), std::ssize(blocks_));
    if (result.scores) return_scores(passes);
    normaliser_.weights(passes, work_.tile(), work_.stat());
    for (Index r = 0; result.row_stat && r < tile_.rows.size(); ++r) {
      result.row_stat.at<float>({tile_.b, tile_.h, tile_.rows.begin + r}) = work_.stat()[r];
    }
    if (result.weights) copy_out(result.weights, 0);
    if (!result.out) return;
    if (passes.bits != nullptr) kernels::attention_drop_rows(passes, work_.tile());
    multiply_values();
  }

 private:
  // Writes the tile's columns to rows of a [B, H, Lq, Lk] view, and `beside` to the keys that it leaves out.
  void copy_out(const View& view, float beside) const {
    for (Index r = 0; r < tile_.rows.size(); ++r) {
      const Index i = tile_.rows.begin + r;
      fill(select(select(select(view, 0, tile_.b), 0, tile_.h), 0, i), beside);
      for (const KeyBlock& block : blocks_) {
        store_row(work_.tile() + r * work_.stride() + block.column, block.keys.size(), view,
                  view.offset({tile_.b, tile_.h, i, block.keys.begin}));
      }
    }
  }

  // Leaves scaled (and, but for the raw stage, capped) scores in the tile, and takes from the passes what is done.
  void return_scores(kernels::AttentionRows& passes) {
    kernels::AttentionRows stage = passes;
    if (result.score_stage == ScoreStage::raw) stage.cap = 0;
    kernels::attention_score_rows(stage, work_.tile());
    passes.scale = 1;
    if (stage.cap != 0) passes.cap = 0;
    if (result.score_stage != ScoreStage::masked) return copy_out(result.scores, 0);
    constexpr float kRefused = -std::numeric_limits<float>::infinity();
    copy_out(result.scores, kRefused);
    for (Index r = 0; r < tile_.rows.size(); ++r) {
      const Index i = tile_.rows.begin + r;
      for (const KeyBlock& block : blocks_)
        for (Index j = block.keys.begin; j < block.keys.end; ++j) {
          const Index at = r * work_.stride() + block.column + j - block.keys.begin;
          const float bias = passes.bias == nullptr ? 0.0f : passes.bias[at];
          const bool allowed = c.mask.allows(tile_.b, tile_.h, i, j);
          store_number(result.scores, {tile_.b, tile_.h, i, j}, allowed ? work_.tile()[at] + bias : kRefused);
        }
    }
  }

  void multiply_values() {
    const Index rows = tile_.rows.size();
    const bool direct = c.dtype == DType::f32;
    const FloatRows out =
        direct ? FloatRows{&result.out.at<float>({tile_.b, tile_.h, tile_.rows.begin}), result.out.stride[2]}
               : FloatRows{work_.out_scratch(), c.value_width};
    bool started = false;
    for (const KeyBlock& block : blocks_) {
      const FloatRows values = work_.values_of(tile_.b, tile_.h / c.group, block.keys);
      kernels::gemm_tile({.m = rows,
                          .n = c.value_width,
                          .k = block.keys.size(),
                          .a = {work_.tile() + block.column, work_.stride()},
                          .b = {values.data, values.row},
                          .c = out.data,
                          .c_row = out.row,
                          .accumulate = started});
      started = true;
    }
    for (Index r = 0; !started && r < rows; ++r) std::fill_n(out.data + r * out.row, c.value_width, 0.0f);
    if (!direct) store_rows(out, result.out, tile_.b, tile_.h, tile_.rows);
    repair_rows(c, result.out, tile_);
  }

  const TileScore& score_;
  const kernels::AttentionNormaliser& normaliser_;
  const AttentionProblem& c;
  const AttentionResult& result;
  TileWork& work_;
  RowTile tile_{};
  std::span<const KeyBlock> blocks_;
};

}  // namespace

void tiled_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  const Index rows = forward_rows(c), tiles = ceil_div(c.queries, rows);
  const double work = static_cast<double>(rows * c.keys) * static_cast<double>(c.width + c.value_width);
  const Index units = c.batch * c.heads * tiles;
  const Index bytes = TileWork::bytes(c, rows, c.keys, TileWork::Pass::forward), grain = grain_of(work, kChunkWork);
  parallel_for_with_scratch(workspace, bytes, units, grain, [&](Index begin, Index end, char* memory) {
    TileWork thread(c, memory, rows, c.keys, TileWork::Pass::forward);
    ForwardTile tile(c, result, thread);
    for (Index unit = begin; unit < end; ++unit) {
      const Index head = unit / tiles, first = unit % tiles * rows;
      tile.compute({head / c.heads, head % c.heads, {first, std::min(c.queries, first + rows)}});
    }
  });
}

}  // namespace heed
