// Products of stored rows of bf16 or bytes with many or few rows of numbers, by AMX's tiles: sixteen stored rows meet
// sixteen columns, 64 bytes of each at a time. A row of f32 becomes three of bf16, whose sum it is, so that nothing of
// it is lost; one of digits (digit_rows.h) has a column for each place.
//
//   if (has_tile_products(TileNumbers::bf16)) {
//     split_into_bf16(x, width, high, middle, low);  // and each of the three is turned (lane_layout.h)
//     multiply_tiles({.numbers = TileNumbers::bf16, .stored = {weights, ..}, ..});
//   }
#pragma once

#include <cstdint>

#include "heed/base/float16.h"
#include "heed/base/index.h"

namespace heed::kernels {

enum class TileNumbers { bf16, bytes };

// Of a tile: stored rows, columns at most, and bytes of a stored row, which are so many words of 32 bits.
inline constexpr Index kTileSide = 16, kTileLine = 64, kTileLineWords = 16;

// How many rows of the columns' numbers make one of theirs: bf16 that together are a number of f32.
constexpr Index pieces_of(TileNumbers numbers) { return numbers == TileNumbers::bf16 ? 3 : 1; }

// Where the numbers of tiles lie: line l of row r of tile n at data + n * tile + r * row + l * line, in bytes.
struct StoredTiles {
  const char* data;
  Index tile, row, line;
};

struct TileProduct {
  TileNumbers numbers;
  StoredTiles stored;
  Index tiles, lines;            // at most kTilesTogether
  const std::uint32_t* columns;  // [lines, pieces, kTileLineWords, width]
  Index width;                   // columns of a tile, as the tiles were opened for
  void* sums;                    // f32 with bf16, else int32: of row r of tile n [n * sums_tile + r * sums_row + c]
  Index sums_tile, sums_row;
  bool accumulate;
  bool ask_ahead;  // whether what follows in the stored rows has to come from memory: of one tile alone
};

inline constexpr Index kTilesTogether = 4;

// Whether this machine has the unit, and the SIMD target in use is one with which it comes.
bool has_tile_products(TileNumbers numbers);

// Around all products of a thread with so many columns: what is not there is neither read nor written.
void open_tiles(Index width);
void close_tiles();

// The same for kernels of their own, of so few rows with stored ones. Tile 4 has sixteen rows of a line. Where those
// are stored rows, tile 5 has the few as columns, and tile 0 the sums; where they are stored numbers in groups that the
// unit adds up, tile 2 has the few as rows, and tile 1 the sums.
void open_few_row_tiles(Index rows);

// sums = (sums +) stored columns. bf16: a line after another, of each the low piece first, then the middle and the high
// one, each with two chains of 16 fused multiply-adds, of the even and of the odd numbers, which are added to each
// other and then to the sum; what is below 2^-126 in magnitude counts as zero. So no bit depends on other rows or
// columns, nor on how lines are cut into calls.
void multiply_tiles(const TileProduct& product);

// x = high + middle + low, of 8 bits each: exact, but for parts below 2^-126. An infinity is all in `high`.
void split_into_bf16(const float* x, Index width, BFloat16* high, BFloat16* middle, BFloat16* low);

}  // namespace heed::kernels
