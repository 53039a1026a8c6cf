// What flows back through a key/value head of the tiled plan: a tile of rows at a time, and of its keys some at a time.
//
//   gradients.open_head(b, g);
//   gradients.clear_head();
//   for (const RowTile& tile : tiles) {
//     gradients.open_rows(tile);
//     gradients.begin_rows();
//     gradients.add_keys({0, keys}, dvector);
//     gradients.end_rows();
//   }
//   gradients.close_head();
#pragma once

#include <span>

#include "heed/ops/attention/plans/tile.h"
#include "heed/ops/attention/plans/tile_work.h"

namespace heed {

class TileGradients {
 public:
  TileGradients(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
                TileWork& thread);

  void open_head(Index b, Index g);
  // Makes its sums zero.
  void clear_head();
  // When all rows are done.
  void close_head();

  // Reads what the tile's rows are: the calls below are about them.
  void open_rows(const RowTile& tile);
  // Makes their sums zero, adds the gradient of the sink, and sums what the keys of each row give back together.
  void begin_rows();
  // Adds what flows between the rows and those of the keys that the mask leaves them. For the same bits, keys come in
  // ascending order and are cut at multiples of a block. `dvector` [D]: the gradient of the additive vector, or null.
  void add_keys(Range keys, float* dvector);
  void end_rows();

  // What keys may be cut at.
  static Index block_keys(const AttentionProblem& problem);

 private:
  FloatRows sums_of(const View& view, float* scratch);
  void store_sums(const View& view, FloatRows sums) const;
  void fill_pool();
  void map_key_gradients();
  void read_block(const KeyBlock& block);
  void add_block(const KeyBlock& block, float* dvector);
  void add_strips(const TileOperands& block, Index first_key, const TileFlows& flows);
  void add_products(const TileOperands& operands, const kernels::AttentionRows& passes, Index r, Index j,
                    const TileFlows& to);

  const TileScore& score_;
  const kernels::AttentionNormaliser& normaliser_;
  const AttentionProblem& c_;
  const AttentionSaved& saved_;
  const AttentionGrad& grad_;
  TileWork& work_;
  Index b_ = 0, g_ = 0;
  FloatRows dk_, dv_;  // of the head
  RowTile tile_{};
  TileWork::Queries q_{};  // of the tile
  FloatRows dout_, dq_;    // of the tile
  std::span<const KeyBlock> blocks_;
  kernels::AttentionRows passes_{};  // of the block that was read last
  bool block_is_read_ = false;       // the only block of the tile, for the pool
};

}  // namespace heed
