#include "heed/ops/digit_product.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/block_rows.h"
#include "heed/kernels/digit_rows.h"
#include "heed/kernels/lane_layout.h"
#include "heed/ops/gemm_library.h"
#include "heed/ops/output_shares.h"
#include "heed/ops/tile_columns.h"

namespace heed {
namespace {

using kernels::DigitTerms;
using kernels::kTileSide;

// Rows whose digits are made before they are multiplied.
constexpr Index kSplitRows = 1024;

class SplitRows {
 public:
  // With `summed`, what blocks ask for beside the digits.
  SplitRows(const ConstView& x, bool summed)
      : count_(x.shape[0]),
        row_bytes_(kernels::digit_row_bytes(x.shape[1])),
        memory_(allocate(count_ * row_bytes_)),
        terms_(static_cast<std::size_t>(count_)),
        sums_row_(summed ? kernels::UnpackedRows::shares_of(x.shape[1]) : 0),
        sums_(static_cast<std::size_t>(count_ * sums_row_)) {
    constexpr double kNumbersPerTask = 64 * 1024;
    parallel_for(count_, grain_of(static_cast<double>(x.shape[1]), kNumbersPerTask), [&](Index begin, Index end) {
      std::vector<float> copy;
      for (Index r = begin; r < end; ++r) split(slice(x, 0, r, r + 1), r, copy);
    });
  }

  kernels::DigitRows rows() const { return {digits(0), terms_.data(), count_}; }
  kernels::SummedDigitRows summed() const { return {rows(), sums_.data()}; }

 private:
  std::int8_t* digits(Index row) const { return static_cast<std::int8_t*>(memory_.get()) + row * row_bytes_; }

  void split(const ConstView& x, Index row, std::vector<float>& copy) {
    const float* numbers = x.as<float>();
    if (x.stride[1] != 1) {
      copy.clear();
      for (Index i = 0; i < x.shape[1]; ++i) copy.push_back(x.at<float>({0, i}));
      numbers = copy.data();
    }
    kernels::split_digits(numbers, x.shape[1], digits(row), &terms_[static_cast<std::size_t>(row)]);
    if (sums_row_ > 0) kernels::sum_digits(digits(row), x.shape[1], sums_.data() + row * sums_row_);
  }

  Index count_, row_bytes_;
  std::shared_ptr<void> memory_;
  std::vector<DigitTerms> terms_;
  Index sums_row_;
  std::vector<float> sums_;
};

// The weight's outputs [first, last).
kernels::StoredRows stored(const Weight& weight, Index first, Index last) {
  const Index inputs = weight.inputs();
  return {.data = weight.values.as<std::int8_t>() + first * inputs,
          .dtype = DType::i8,
          .count = last - first,
          .width = inputs,
          .row = inputs,
          .scales = weight.scales.as<float>() + first,
          .scale_row = 1};
}

const float* bias_from(const ConstView& bias, Index first) { return bias ? bias.as<float>() + first : nullptr; }

// Where products with the outputs from `first` on go.
kernels::ProductPlaces places_from(const View& y, Index first) {
  return {y.as<float>() + first * y.stride[1], y.stride[0], y.stride[1]};
}

// Few rows, for which weights are read where they lie.
void multiply_few(const SplitRows& x, std::span<const AffineMap> maps, const View& y) {
  constexpr Index kStepOutputs = 32;
  const auto step_of = [](const Weight&) { return kStepOutputs; };
  const double bytes = static_cast<double>(kStepOutputs * maps[0].weight.inputs());
  for_each_share(maps, y, step_of, bytes, [&](const OutputShare& share) {
    kernels::digit_products(x.rows(), stored(share.map.weight, share.first, share.last),
                            bias_from(share.map.bias, share.first), places_from(share.y, share.first));
  });
}

// Sixteen rows have a tile of columns for each place.
TileColumns turned(const kernels::DigitRows& rows, Index inputs) {
  const Index row = kernels::digit_row_bytes(inputs), place = row / kernels::kDigits;
  const Index groups = ceil_div(rows.count, kTileSide);
  TileColumns columns(kernels::TileNumbers::bytes, groups * kernels::kDigits * kTileSide, inputs);
  parallel_for(columns.tiles(), 1, [&](Index begin, Index end) {
    for (Index tile = begin; tile < end; ++tile) {
      const Index first = tile / kernels::kDigits * kTileSide;
      const std::int8_t* const digits = rows.digits + first * row + tile % kernels::kDigits * place;
      columns.fill(tile, 0, digits, row, std::min(kTileSide, rows.count - first));
    }
  });
  return columns;
}

// From the sums of those columns to the products of rows; by_row has room for sixteen of them, [row, place, output].
void scale_tile_sums(const kernels::DigitRows& rows, const std::int32_t* sums, std::int32_t* by_row,
                     const OutputShare& share) {
  const Index outputs = share.last - share.first, row = kernels::kDigits * outputs;
  const kernels::ProductPlaces to = places_from(share.y, share.first);
  for (Index first = 0; first < rows.count; first += kTileSide) {
    const Index count = std::min(kTileSide, rows.count - first);
    for (Index place = 0; place < kernels::kDigits; ++place, sums += TileColumns::sums_of_tile(outputs)) {
      kernels::lanes_to_rows(count, outputs, reinterpret_cast<const float*>(sums), kTileSide, nullptr,
                             reinterpret_cast<float*>(by_row + place * outputs), row);  // no bit of one changes
    }
    for (Index n = 0; n < count; ++n) {
      kernels::scale_digit_sums(by_row + n * row, outputs, rows.terms[first + n],
                                share.map.weight.scales.as<float>() + share.first,
                                bias_from(share.map.bias, share.first), to.data + (first + n) * to.row, to.column);
    }
  }
}

// Many rows, by AMX's tiles.
void multiply_many_in_tiles(const SplitRows& x, const AffineMap& map, const View& y) {
  constexpr Index kRows = 128, kStepOutputs = kernels::kTilesTogether * kTileSide;
  const Index inputs = map.weight.inputs(), row = kernels::digit_row_bytes(inputs);
  const auto step_of = [](const Weight&) { return kStepOutputs; };
  const kernels::DigitRows all = x.rows();
  for (Index begin = 0; begin < all.count; begin += kRows) {
    const Index count = std::min(kRows, all.count - begin);
    const kernels::DigitRows rows{all.digits + begin * row, all.terms + begin, count};
    const TileColumns columns = turned(rows, inputs);
    const double work = static_cast<double>(kStepOutputs * inputs * columns.tiles());
    for_each_share({&map, 1}, slice(y, 0, begin, begin + count), step_of, work, [&](const OutputShare& share) {
      const Index outputs = share.last - share.first, of_tile = columns.sums_of_tile(outputs);
      const Index numbers = (columns.tiles() + kernels::kDigits) * of_tile;
      const auto memory = allocate(numbers * static_cast<Index>(sizeof(std::int32_t)));
      auto* const sums = static_cast<std::int32_t*>(memory.get());
      columns.multiply(map.weight.values.as<char>() + share.first * inputs, inputs, outputs, sums);
      scale_tile_sums(rows, sums, sums + columns.tiles() * of_tile, share);
    });
  }
}

// Many rows, by the library. Exact sums may be cut wherever it is fastest, also by the count of threads.
void multiply_many(const SplitRows& x, const AffineMap& map, const View& y) {
  const Weight& weight = map.weight;
  const ConstView& bias = map.bias;
  constexpr Index kRows = 128, kLeast = 64, kMost = 256, kTasksPerThread = 4;
  const kernels::DigitRows rows = x.rows();
  const Index outputs = weight.outputs(), inputs = weight.inputs();
  const Index panel = std::clamp(outputs / (kTasksPerThread * thread_count()) / kLeast * kLeast, kLeast, kMost);
  const Index place = kernels::digit_row_bytes(inputs) / kernels::kDigits;
  parallel_for(ceil_div(outputs, panel), 1, [&](Index begin, Index end) {
    const auto memory = allocate(kernels::kDigits * kRows * panel * static_cast<Index>(sizeof(std::int32_t)));
    auto* const sums = static_cast<std::int32_t*>(memory.get());
    for (Index first = begin * panel; first < std::min(end * panel, outputs); first += panel) {
      const Index count = std::min(panel, outputs - first);
      for (Index r = 0; r < rows.count; r += kRows) {
        const Index some = std::min(kRows, rows.count - r);
        multiply_with_library(ByteProduct{.m = kernels::kDigits * some,
                                          .n = count,
                                          .k = inputs,
                                          .a = rows.digits + r * kernels::digit_row_bytes(inputs),
                                          .a_row = place,
                                          .b = weight.values.as<std::int8_t>() + first * inputs,
                                          .b_row = inputs,
                                          .c = sums});
        const kernels::ProductPlaces to = places_from(y, first);
        for (Index n = 0; n < some; ++n) {
          kernels::scale_digit_sums(sums + n * kernels::kDigits * count, count, rows.terms[r + n],
                                    weight.scales.as<float>() + first, bias_from(bias, first),
                                    to.data + (r + n) * to.row, to.column);
        }
      }
    }
  });
}

// Blocks, unpacked for as many outputs at a time as stay in a core's first cache, or for many rows in its second.
void multiply_blocks(const SplitRows& x, std::span<const AffineMap> maps, const View& y) {
  constexpr Index kFewOutputs = 8, kManyOutputs = 64;
  const Index inputs = maps[0].weight.inputs(), step = x.rows().count > kernels::kFewRows ? kManyOutputs : kFewOutputs;
  const Index lines = ceil_div(inputs, kernels::kDigitLine), shares = kernels::UnpackedRows::shares_of(inputs);
  const double unpacked = static_cast<double>(step * inputs);
  const auto step_of = [step](const Weight&) { return step; };
  for_each_share(maps, y, step_of, unpacked, [&](const OutputShare& share) {
    const auto numbers = allocate(step * lines * kernels::kDigitLine);
    const auto floats = allocate(2 * step * shares * static_cast<Index>(sizeof(float)));
    auto* const scale = static_cast<float*>(floats.get());
    const auto* const blocks = share.map.weight.values.as<unsigned char>();
    const Index bytes = share.map.weight.values.shape[1];
    for (Index first = share.first; first < share.last; first += step) {
      const Index last = std::min(first + step, share.last), next = std::min(last + step, share.last);
      const kernels::UnpackedRows rows{.type = share.map.weight.blocks,
                                       .bytes = static_cast<std::uint8_t*>(numbers.get()),
                                       .scale = scale,
                                       .less = scale + step * shares,
                                       .count = last - first,
                                       .width = inputs,
                                       .next = blocks + last * bytes,
                                       .next_bytes = (next - last) * bytes};
      kernels::unpack_blocks(blocks + first * bytes, rows);
      kernels::block_products(x.summed(), rows, bias_from(share.map.bias, first), places_from(share.y, first));
    }
  });
}

}  // namespace

bool are_digits(std::span<const AffineMap> maps) {
  const auto is_of_blocks = [](const AffineMap& map) { return map.weight.blocks != BlockType::none; };
  const auto is_one = [&](const AffineMap& map) {
    return (map.weight.scales || is_of_blocks(map)) && is_of_blocks(map) == is_of_blocks(maps[0]) &&
           map.weight.values.shape[1] > 0;
  };
  return kernels::has_digit_products() && std::ranges::all_of(maps, is_one);
}

void multiply_digits(const ConstView& x, std::span<const AffineMap> maps, const View& y) {
  const bool blocks = maps[0].weight.blocks != BlockType::none;
  for (Index begin = 0; begin < x.shape[0]; begin += kSplitRows) {
    const Index end = std::min(begin + kSplitRows, x.shape[0]);
    const SplitRows rows(slice(x, 0, begin, end), blocks);
    const View to = slice(y, 0, begin, end);
    if (blocks) {
      multiply_blocks(rows, maps, to);
    } else if (end - begin <= kernels::kFewRows || !library_is_exact(x.shape[1])) {
      multiply_few(rows, maps, to);
    } else {
      const auto multiply =
          kernels::has_tile_products(kernels::TileNumbers::bytes) ? multiply_many_in_tiles : multiply_many;
      for_each_map(maps, to, [&](const AffineMap& map, const View& own) { multiply(rows, map, own); });
    }
  }
}

}  // namespace heed
