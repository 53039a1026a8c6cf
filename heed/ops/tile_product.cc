#include "heed/ops/tile_product.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/lane_layout.h"
#include "heed/ops/output_shares.h"
#include "heed/ops/tile_columns.h"

namespace heed {
namespace {

using kernels::kTileSide;

// Rows that are turned before they are multiplied.
constexpr Index kTurnedRows = 256;

TileColumns turned(const ConstView& x) {
  const Index inputs = x.shape[1], row = round_up(inputs, kernels::kTileLine / size_of(DType::bf16));
  TileColumns columns(kernels::TileNumbers::bf16, x.shape[0], inputs * size_of(DType::bf16));
  constexpr Index kPieces = kernels::pieces_of(kernels::TileNumbers::bf16);
  constexpr double kNumbersPerTask = 64 * 1024;
  const Index grain = grain_of(static_cast<double>(kTileSide * inputs), kNumbersPerTask);
  const Index most = std::min(kTileSide, x.shape[0]);
  parallel_for(columns.tiles(), grain, [&](Index begin, Index end) {
    const auto memory = allocate(kPieces * most * row * size_of(DType::bf16));
    auto* const pieces = static_cast<BFloat16*>(memory.get());
    for (Index r = 0; r < kPieces * most; ++r) std::fill(pieces + r * row + inputs, pieces + (r + 1) * row, BFloat16{});
    std::vector<float> copy;
    for (Index tile = begin; tile < end; ++tile) {
      const Index rows = std::min(kTileSide, x.shape[0] - tile * kTileSide);
      for (Index r = 0; r < rows; ++r) {
        const float* numbers = &x.at<float>({tile * kTileSide + r, 0});
        if (x.stride[1] != 1) {
          copy.clear();
          for (Index i = 0; i < inputs; ++i) copy.push_back(numbers[i * x.stride[1]]);
          numbers = copy.data();
        }
        BFloat16* const to = pieces + r * row;
        kernels::split_into_bf16(numbers, inputs, to, to + most * row, to + 2 * most * row);
      }
      for (Index piece = 0; piece < kPieces; ++piece) {
        columns.fill(tile, piece, pieces + piece * most * row, row * size_of(DType::bf16), rows);
      }
    }
  });
  return columns;
}

// y[r, first + j] = sums[j, r] + bias[first + j] for the rows of y, which are a tile's.
void store(const float* sums, const ConstView& bias, Index first, Index count, const View& y, float* scratch) {
  const float* const added = bias ? bias.as<float>() + first : nullptr;
  const bool in_place = y.stride[1] == 1;
  float* const to = in_place ? &y.at<float>({0, first}) : scratch;
  const Index to_row = in_place ? y.stride[0] : count;
  kernels::lanes_to_rows(y.shape[0], count, sums, kTileSide, nullptr, to, to_row);
  for (Index r = 0; r < y.shape[0]; ++r) {
    float* const row = to + r * to_row;
    if (added != nullptr) std::transform(row, row + count, added, row, std::plus<>());
    for (Index j = 0; j < count && !in_place; ++j) y.at<float>({r, first + j}) = row[j];
  }
}

}  // namespace

bool are_of_tiles(std::span<const AffineMap> maps) {
  const auto is_one = [](const AffineMap& map) {
    return map.weight.values.dtype == DType::bf16 && map.weight.inputs() > 0;
  };
  return kernels::has_tile_products(kernels::TileNumbers::bf16) && std::ranges::all_of(maps, is_one);
}

void multiply_in_tiles(const ConstView& x, std::span<const AffineMap> maps, const View& y) {
  const Index row_bytes = x.shape[1] * size_of(DType::bf16);
  for (Index begin = 0; begin < x.shape[0]; begin += kTurnedRows) {
    const Index end = std::min(begin + kTurnedRows, x.shape[0]);
    const TileColumns columns = turned(slice(x, 0, begin, end));
    // One tile of columns meets a tile of outputs at a time, more of them meet several.
    const Index step = (columns.tiles() > 1 ? kernels::kTilesTogether : 2) * kTileSide;
    const auto step_of = [step](const Weight&) { return step; };
    const double work = static_cast<double>(step * row_bytes * columns.tiles());
    for_each_share(maps, slice(y, 0, begin, end), step_of, work, [&](const OutputShare& share) {
      const Index count = share.last - share.first, of_tile = columns.sums_of_tile(count);
      const auto memory = allocate((columns.tiles() + 1) * of_tile * static_cast<Index>(sizeof(float)));
      auto* const sums = static_cast<float*>(memory.get());
      float* const scratch = sums + columns.tiles() * of_tile;
      columns.multiply(share.map.weight.values.as<char>() + share.first * row_bytes, row_bytes, count, sums);
      for (Index tile = 0; tile < columns.tiles(); ++tile) {
        const Index row = tile * kTileSide, next = std::min(row + kTileSide, share.y.shape[0]);
        store(sums + tile * of_tile, share.map.bias, share.first, count, slice(share.y, 0, row, next), scratch);
      }
    });
  }
}

}  // namespace heed
