// What a thread works with while it computes tiles: its scratch memory, the blocks of keys of the tile at work, and the
// operands of a block as f32 wherever and in whatever type they lie.
#pragma once

#include <span>

#include "heed/ops/attention/plans/row_tiles.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {

// Blocks that are judged one by one under a mask that is no interval of each row.
inline constexpr Index kPatternBlock = 64;

// Keys of the tile, and the column at which they begin: a multiple of kAttentionLanes, as keys.begin is. Columns leave
// out the blocks that are refused to every row.
struct KeyBlock {
  Range keys;
  Index column;
  bool whole;  // the mask allows every key to every row
};

class TileWork {
 public:
  using Pass = AttentionTask::Pass;
  // The bytes of scratch for tiles of `rows` rows and `columns` columns.
  static Index bytes(const AttentionProblem& c, Index rows, Index columns, Pass pass);
  TileWork(const AttentionProblem& c, char* scratch, Index rows, Index columns, Pass pass);

  // Floats from row to row of a tile.
  Index stride() const { return stride_; }
  float* tile() const { return tile_; }
  float* dtile() const { return dtile_; }
  float* dbias() const { return dbias_; }
  float* stat() const { return stat_; }
  float* delta() const { return delta_; }
  // What a score keeps of a strip; null where it keeps nothing.
  float* kept() const { return kept_; }
  kernels::RowPool* pool() const { return pool_; }

  // The blocks that are not refused to every row; with `all`, every block.
  std::span<const KeyBlock> open_blocks(const RowTile& rows, bool all);

  // The row passes' view of `count` blocks that lie one after another from column 0 of `tile` on: masks, bias, dropout.
  kernels::AttentionRows passes(const RowTile& rows, const KeyBlock* blocks, Index count);

  // The same view of some of its rows and columns; columns.begin is a multiple of kAttentionLanes. The next call
  // overwrites what it points at.
  kernels::AttentionRows strip(const kernels::AttentionRows& passes, Range rows, Range columns);

  // Rows of q as they are given, and as the score maps them.
  struct Queries {
    FloatRows given, mapped;
  };
  // Rows as f32: where they lie, or read into scratch that the next call of the same kind overwrites.
  Queries queries(const RowTile& rows) const;
  static FloatRows rows_of(const ConstView& view, const RowTile& tile, float* scratch) {
    return float_rows(view, tile.b, tile.h, tile.rows, scratch);
  }
  FloatRows keys_of(Index b, Index g, Range keys) const { return float_rows(c_.k, b, g, keys, k_); }
  FloatRows values_of(Index b, Index g, Range keys) const { return float_rows(c_.v, b, g, keys, v_); }
  TileOperands operands(const RowTile& rows, const Queries& q, Range keys) const;

  // Scratch for rows of the head's output, its gradient, and the gradient of q.
  float* out_scratch() const { return out_; }
  float* dout_scratch() const { return dout_; }
  float* dq_scratch() const { return dq_; }
  // For the sums of dk and dv of a whole key/value head; null where those are f32 themselves.
  float* dk_sums() const { return dk_; }
  float* dv_sums() const { return dv_; }

 private:
  Index layout(char* base, Index rows, Index columns, Pass pass);

  const AttentionProblem& c_;
  const TileScore& score_;
  Index stride_ = 0;
  KeyBlock* blocks_ = nullptr;
  float *tile_ = nullptr, *dtile_ = nullptr, *bias_ = nullptr, *dbias_ = nullptr, *stat_ = nullptr, *delta_ = nullptr,
        *kept_ = nullptr;
  float *q_ = nullptr, *k_ = nullptr, *mapped_q_ = nullptr, *mapped_k_ = nullptr, *v_ = nullptr, *out_ = nullptr,
        *dout_ = nullptr, *dq_ = nullptr, *dk_ = nullptr, *dv_ = nullptr;
  kernels::RowPool* pool_ = nullptr;
  Index *begin_ = nullptr, *end_ = nullptr, *strip_begin_ = nullptr, *strip_end_ = nullptr;
  std::uint8_t* allowed_ = nullptr;
  std::uint16_t* bits_ = nullptr;
};

}  // namespace heed
