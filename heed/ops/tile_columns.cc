#include "heed/ops/tile_columns.h"

#include <algorithm>
#include <cstring>

#include "heed/base/memory.h"
#include "heed/kernels/ask_ahead.h"
#include "heed/kernels/lane_layout.h"

namespace heed {
namespace {

using kernels::kTileLine;
using kernels::kTileLineWords;
using kernels::kTileSide;

constexpr Index kPanelRows = kernels::kTilesTogether * kTileSide, kWord = sizeof(std::uint32_t);

// The unit works for this thread while there is one.
struct OpenTiles {
  explicit OpenTiles(Index width) { kernels::open_tiles(width); }
  ~OpenTiles() { kernels::close_tiles(); }
  OpenTiles(const OpenTiles&) = delete;
  OpenTiles& operator=(const OpenTiles&) = delete;
};

// Some lines of the rows of a panel, tile by tile for each line: rows that lie a power of two apart would push each
// other out of the first cache. Zeros stand behind the last row and the last number.
class Panel {
 public:
  Panel(Index row_bytes, Index most_lines)
      : row_bytes_(row_bytes), memory_(allocate(kPanelRows * most_lines * kTileLine)) {}

  kernels::StoredTiles pack(const char* stored, Index row, Index rows, Index first_line, Index lines) {
    auto* const to = static_cast<char*>(memory_.get());
    const Index all = round_up(rows, kTileSide), line_bytes = all * kTileLine;
    for (Index line = 0; line < lines; ++line) {
      const Index begin = (first_line + line) * kTileLine;
      const auto there = static_cast<std::size_t>(std::min(kTileLine, row_bytes_ - begin));
      char* at = to + line * line_bytes;
      for (Index r = 0; r < rows; ++r, at += kTileLine) {
        const char* const from = stored + r * row + begin;
        if (there == kTileLine) {
          std::memcpy(at, from, kTileLine);  // of a size that the compiler knows: a move or two
        } else {
          std::memset(at + there, 0, kTileLine - there);
          std::memcpy(at, from, there);
        }
      }
      std::memset(at, 0, static_cast<std::size_t>((all - rows) * kTileLine));
    }
    return {.data = to, .tile = kTileSide * kTileLine, .row = kTileLine, .line = line_bytes};
  }

 private:
  Index row_bytes_;
  std::shared_ptr<void> memory_;
};

}  // namespace

TileColumns::TileColumns(kernels::TileNumbers numbers, Index count, Index row_bytes)
    : numbers_(numbers),
      tiles_(ceil_div(count, kTileSide)),
      width_(std::min(count, kTileSide)),
      row_bytes_(row_bytes),
      lines_(ceil_div(row_bytes, kTileLine)),
      pieces_(kernels::pieces_of(numbers)),
      words_(std::static_pointer_cast<std::uint32_t>(
          allocate(tiles_ * lines_ * pieces_ * kTileLineWords * width_ * kWord))) {}

void TileColumns::fill(Index tile, Index piece, const void* rows, Index row, Index count) {
  const auto* from = static_cast<const float*>(rows);  // moved as floats: no bit of a word changes
  for (Index line = 0; line < lines_; ++line, from += kTileLineWords) {
    auto* const to = reinterpret_cast<float*>(words(tile, line) + piece * kTileLineWords * width_);
    if (width_ == kTileSide) {
      kernels::rows_to_lanes(count, kTileLineWords, from, row / kWord, to, kTileSide);
      continue;
    }
    for (Index c = 0; c < width_; ++c) {
      for (Index word = 0; word < kTileLineWords; ++word) to[word * width_ + c] = from[c * (row / kWord) + word];
    }
  }
}

void TileColumns::multiply(const char* stored, Index stored_row, Index outputs, void* sums) const {
  const OpenTiles open(width_);
  auto* const numbers = static_cast<std::uint32_t*>(sums);
  const Index whole = outputs / kTileSide * kTileSide;
  if (tiles_ > 1 || row_bytes_ % kTileLine != 0) return multiply_packed(stored, stored_row, outputs, numbers);
  for (Index first = 0, run; first < whole; first += run * kTileSide) {
    run = kernels::rows_apart((whole - first) / kTileSide, stored_row);
    multiply_in_place(stored + first * stored_row, stored_row, run * kTileSide, numbers + first * kTileSide);
  }
  if (whole == outputs) return;
  multiply_packed(stored + whole * stored_row, stored_row, outputs - whole, numbers + whole * kTileSide);
}

// For so few columns that stored rows are read once: sixteen runs of them, each from one row to the next, so that
// memory is read as it is read fastest.
void TileColumns::multiply_in_place(const char* stored, Index stored_row, Index outputs, std::uint32_t* sums) const {
  const Index run = outputs / kTileSide;
  for (Index nth = 0; nth < run; ++nth) {
    kernels::multiply_tiles({.numbers = numbers_,
                             .stored = {stored + nth * stored_row, 0, run * stored_row, kTileLine},
                             .tiles = 1,
                             .lines = lines_,
                             .columns = words(0, 0),
                             .width = width_,
                             .sums = sums + nth * kTileSide,
                             .sums_tile = 0,
                             .sums_row = run * kTileSide,
                             .accumulate = false,
                             .ask_ahead = true});
  }
}

void TileColumns::multiply_packed(const char* stored, Index stored_row, Index outputs, std::uint32_t* sums) const {
  // So many lines of a panel stay in the first cache while it meets all columns.
  constexpr Index kBlock = 8;
  Panel panel(row_bytes_, kBlock);
  for (Index line = 0; line < lines_; line += kBlock) {
    const Index lines = std::min(kBlock, lines_ - line);
    for (Index first = 0; first < outputs; first += kPanelRows) {
      const Index rows = std::min(kPanelRows, outputs - first);
      const kernels::StoredTiles packed = panel.pack(stored + first * stored_row, stored_row, rows, line, lines);
      for (Index tile = 0; tile < tiles_; ++tile) {
        kernels::multiply_tiles({.numbers = numbers_,
                                 .stored = packed,
                                 .tiles = ceil_div(rows, kTileSide),
                                 .lines = lines,
                                 .columns = words(tile, line),
                                 .width = width_,
                                 .sums = sums + tile * sums_of_tile(outputs) + first * kTileSide,
                                 .sums_tile = kTileSide * kTileSide,
                                 .sums_row = kTileSide,
                                 .accumulate = line > 0,
                                 .ask_ahead = false});
      }
    }
  }
}

}  // namespace heed
