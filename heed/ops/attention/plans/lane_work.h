// What a thread works with while it computes attention with a query to each SIMD lane: some tiles of rows, the block of
// keys that they all meet next, and what mask, bias and dropout say about each of them there.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/plans/bf16_products.h"
#include "heed/ops/attention/plans/float_products.h"
#include "heed/ops/attention/plans/lane_parts.h"
#include "heed/ops/attention/plans/lane_tile.h"
#include "heed/ops/attention/plans/plan.h"

namespace heed {

// Keys, and what is asked of them against the rows of a tile.
struct LaneBlock {
  Range keys;
  kernels::AttentionLanes passes;
  LaneParts parts;  // what the mask leaves of it
};

class LaneWork {
 public:
  using Pass = AttentionTask::Pass;
  static constexpr Index kMostTiles = 8;  // that a block of keys is read for at once

  // The bytes of scratch that a thread needs for `tiles` tiles and, where gradients are of 16 bits, for sums of dk and
  // dv of so many keys.
  static Index bytes(const AttentionProblem& c, LaneNumbers numbers, Pass pass, Index tiles, Index sum_keys = 0);
  LaneWork(const AttentionProblem& c, LaneNumbers numbers, Pass pass, Index tiles, Index sum_keys, char* scratch);

  // Asks for what a tile of a short sentence reads: no processor guesses where the next begins.
  void prefetch_short(const RowTile& tile) const;

  // Turns to some rows of heads that share key/value head g: their queries go into lanes, and dout, where there is one.
  std::span<LaneTile> turn_to(std::span<const RowTile> rows, const ConstView& dout = {});

  // Calls f(tile, block) for each block of the keys `within`, which begin with a block, in order, and each of the tiles
  // to some of whose rows the mask leaves some of it; with `all`, for every block.
  template <typename F>
  void for_blocks(std::span<LaneTile> tiles, Range within, bool all, const F& f) {
    Range hull{c_.keys, 0};
    for (const LaneTile& tile : tiles) {
      if (tile.open.hull.empty()) continue;
      hull = {std::min(hull.begin, tile.open.hull.begin), std::max(hull.end, tile.open.hull.end)};
    }
    hull = all ? within : intersect(hull, within);
    const auto block_from = [&](Index begin) {
      return Range{begin, begin < hull.end ? std::min(c_.keys, begin + kernels::kLaneKeys) : begin};
    };
    for (Range keys = block_from(hull.begin / kernels::kLaneKeys * kernels::kLaneKeys), next; !keys.empty();
         keys = next) {
      next = block_from(keys.end);
      bool read = false;
      for (LaneTile& tile : tiles) {
        const TileCover cover = cover_of(tile.open, keys);
        if (cover == TileCover::none && !all) continue;
        if (!read) products_.read_block(tile.rows.b, tile.rows.h / c_.group, keys, next, tiles.size() > 1);
        read = true;
        f(tile, block(tile, keys, cover == TileCover::all));
      }
    }
  }

  // Of the block at work.
  LaneProducts& products() { return products_; }

  Range all_keys() const { return {0, c_.keys}; }

  // Calls f(r, row) with the first `count` columns of each row of the tile, from a block of scores or of what lies as
  // they do.
  template <typename F>
  void for_rows(const LaneTile& tile, const float* block, Index count, const F& f) {
    const Index rows = tile.rows.rows.size();
    kernels::lanes_to_rows(rows, count, block, tile.lanes, nullptr, rows_scratch_, kernels::kLaneKeys);
    for (Index r = 0; r < rows; ++r) f(r, rows_scratch_ + r * kernels::kLaneKeys);
  }

  // Whether scores and the gradients of weights are looked at twice, first for what a row's keys give back together:
  // that is dout . out, but for an `out` that was rounded to 16 bits.
  static bool looks_twice(const AttentionProblem& c);
  static constexpr Index kMostHeld = 64;  // blocks, of 32 KiB
  // Where those of the nth block that a tile meets wait meanwhile, both [keys, lanes]; null where all of them together
  // are more than that, and are computed again.
  struct Held {
    float *scores = nullptr, *dscores = nullptr;
  };
  Held held(Index nth) const;

  float* scores() const { return scores_; }
  float* dscores() const { return dscores_; }
  float* decays() const { return decays_; }       // [keys, lanes], forward
  float* dbias() const { return dbias_; }         // null without a bias
  float* narrow_rows() const { return narrow_; }  // f32 of rows that are to be rounded to 16 bits
  float* dk_sums() const { return dk_; }          // null where those are f32 themselves
  float* dv_sums() const { return dv_; }
  static Index sums_row(Index width);  // floats from row to row of them

 private:
  LaneWork(const AttentionProblem& c, LaneNumbers numbers, Pass pass, Index tiles, Index sum_keys, ScratchCut scratch);
  TileCover cover_of(const MaskTile& open, Range keys) const;
  LaneBlock block(const LaneTile& tile, Range keys, bool whole);
  void fill_bias(const LaneTile& tile, Range keys, kernels::AttentionLanes& passes);
  MaskTile open_of(const RowTile& rows, Range* row_keys);
  void fill_allowed(const LaneTile& tile, Range keys);

  const AttentionProblem& c_;
  std::optional<FloatProducts> float_products_;
  std::optional<Bf16Products> bf16_products_;
  LaneProducts& products_;  // one of them
  Index lane_floats_;       // of a tile
  LaneTile* tiles_ = nullptr;
  Range* row_keys_ = nullptr;
  float *lanes_ = nullptr, *scores_ = nullptr, *dscores_ = nullptr, *bias_ = nullptr, *dbias_ = nullptr,
        *decays_ = nullptr;
  float *rows_scratch_ = nullptr, *narrow_ = nullptr, *dk_ = nullptr, *dv_ = nullptr, *held_ = nullptr;
  Index held_floats_ = 0;  // of one array of a block
  std::uint32_t *allowed_ = nullptr, *kept_ = nullptr;
  // What the mask said last: of many short heads it says the same.
  MaskTile seen_{};
  const Range* seen_row_keys_ = nullptr;
  RowTile allowed_rows_{};
  Range allowed_keys_{};
  Index used_ = 0;
};

}  // namespace heed
