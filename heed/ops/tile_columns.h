// Rows turned into the columns that AMX's tiles multiply stored rows with (kernels/tile_products.h), and how such a
// product is cut: columns stay in a core's second cache, and stored rows in its first.
//
//   TileColumns columns(TileNumbers::bytes, count, width);
//   columns.fill(tile, 0, rows, row, 16);          // each tile
//   columns.multiply(weights, width, outputs, sums);
#pragma once

#include <cstdint>
#include <memory>

#include "heed/base/index.h"
#include "heed/kernels/tile_products.h"

namespace heed {

class TileColumns {
 public:
  // So many columns, sixteen to a tile, for stored rows of so many bytes. Fewer have one tile that is as wide as they
  // are: what a few rows need beside the weight should stay in the first cache.
  TileColumns(kernels::TileNumbers numbers, Index count, Index row_bytes);

  Index tiles() const { return tiles_; }

  // Makes `count` rows of whole lines, which begin at `rows` and lie `row` bytes apart, the columns of a piece of a
  // tile, with zeros behind them.
  void fill(Index tile, Index piece, const void* rows, Index row, Index count);

  // Stored rows times columns, on this thread: sums [tiles(), round_up(outputs, kTileSide), kTileSide], f32 with bf16,
  // else int32. Those of columns that are not there are not written.
  static Index sums_of_tile(Index outputs) { return round_up(outputs, kernels::kTileSide) * kernels::kTileSide; }
  void multiply(const char* stored, Index stored_row, Index outputs, void* sums) const;

 private:
  void multiply_in_place(const char* stored, Index stored_row, Index outputs, std::uint32_t* sums) const;
  void multiply_packed(const char* stored, Index stored_row, Index outputs, std::uint32_t* sums) const;
  // The pieces of a line.
  std::uint32_t* words(Index tile, Index line) const {
    return words_.get() + (tile * lines_ + line) * pieces_ * kernels::kTileLineWords * width_;
  }

  kernels::TileNumbers numbers_;
  Index tiles_, width_, row_bytes_, lines_, pieces_;
  std::shared_ptr<std::uint32_t> words_;
};

}  // namespace heed
