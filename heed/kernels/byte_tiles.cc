// The products of byte_rows.h by AMX's tiles.
#include "heed/kernels/byte_sums-inl.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <algorithm>

#include "heed/kernels/byte_units.h"
#include "heed/kernels/lines_below.h"
#include "heed/kernels/tile_products.h"
#include "heed/kernels/tile_target.h"
#include "heed/kernels/word_order.h"

namespace heed::kernels {
namespace {

constexpr Index kLineWords = kDigitLine / 4;

// Sums are finished while the next ones are in the tiles, and lines are asked for beside both.
template <int R>
HEED_TILE_TARGET void products_by_tiles(Index rows, const std::uint32_t* columns, const float* units,
                                        const StoredRows& stored, float alpha, FewRows<float> products) {
  constexpr int kColumns = kBytePlaces * R;
  constexpr Index kHalf = kByteGroup / 2;
  LinesBelow<kByteGroup> below(stored, stored.row, stored.width);
  const ByteScales scales(stored);
  const Index lines = stored.width / kDigitLine;
  alignas(64) std::int32_t sums[2][kByteGroup * kColumns];
  const auto finish = [&](Index key) HEED_TILE_TARGET {
    finish_stores();
    __m512i x[kColumns];
#pragma GCC unroll 16
    for (int n = 0; n < kColumns; ++n) x[n] = _mm512_load_si512(sums[key / kByteGroup % 2] + n * kSumLanes);
    part_words(x);
    below.ask_beside_parts(kHalf * lines);
    store_products<R>(x, rows, units, scales.of + key, alpha, products.data + key, products.row);
  };
  finish_stores();
  for (Index key = 0; key < stored.count; key += kByteGroup) {
    const auto* const at = static_cast<const std::int8_t*>(stored.data) + key * stored.row;
    _tile_zero(0);
    for (Index line = 0; line < lines; ++line) {
      below.ask_beside(key, line);
      below.ask_beside_parts(kHalf);
      _tile_loadd(4, at + line * kDigitLine, static_cast<std::size_t>(stored.row));
      _tile_loadd(5, columns + line * kLineWords * kColumns, 4 * kColumns);
      _tile_dpbssd(0, 4, 5);
    }
    _tile_stored(0, sums[key / kByteGroup % 2], 4 * kColumns);
    if (key > 0) finish(key - kByteGroup);
  }
  finish((stored.count - 1) / kByteGroup * kByteGroup);
}

template <int R>
HEED_TILE_TARGET void sums_by_tiles(Index rows, const std::int8_t* digits, const float* units, const StoredRows& stored,
                                    FewRows<float> result) {
  constexpr int kColumns = kBytePlaces * R;
  constexpr Index kStepsAfter = 16;
  RowsBelow below(stored, stored.row, stored.width, {.at_once = kDigitLine, .rows = 4, .after = kStepsAfter});
  alignas(64) std::uint32_t words[4][kByteKeys / 4 * kSumLanes] = {};
  alignas(64) std::int32_t sums[2][4][kColumns * kSumLanes];
  const auto finish = [&](Index column) HEED_TILE_TARGET {
    finish_stores();
    for (int r = 0; r < R && r < rows; ++r) {
      below.ask_beside_steps(kStepsAfter / R);
      __m512 parts[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const auto of = [&](int place) HEED_TILE_TARGET {
          return _mm512_load_si512(&sums[column / kDigitLine % 2][j][(kBytePlaces * r + place) * kSumLanes]);
        };
        parts[j] = floats_of(of(0), of(1), of(2), units[r]);
      }
      store_sums(parts, result.data + r * result.row + column);
    }
  };
  finish_stores();
  _tile_loadd(2, digits, kByteKeys);
  for (Index column = 0; column < stored.width; column += kDigitLine) {
    const auto* row = static_cast<const std::int8_t*>(stored.data) + column;
    for (Index key = 0; key < stored.count; key += 4, row += 4 * stored.row) {
      below.ask_beside(key, column, kDigitLine);
      __m512i quads[4];
      quads_of(row, stored.row, quads);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) _mm512_store_si512(&words[j][key / 4 * kSumLanes], quads[j]);
    }
    finish_stores();
    for (int j = 0; j < 4; ++j) {
      _tile_zero(1);
      _tile_loadd(4, words[j], kDigitLine);
      _tile_dpbssd(1, 2, 4);
      _tile_stored(1, sums[column / kDigitLine % 2][j], kDigitLine);
    }
    if (column > 0) finish(column - kDigitLine);
  }
  finish(stored.width - kDigitLine);
}

// f(first, count, rows, stored) for kByteRows rows after the other, of which `rows` are computed; what is asked for
// ahead is the first ones' affair.
template <class F>
void for_tiles_of_rows(Index rows, StoredRows stored, const F& f) {
  for (Index first = 0; first < rows; first += kByteRows) {
    const Index count = std::min(rows - first, kByteRows);
    for_few_rows<kByteRows>(rows, [&](auto together) { f(first, count, together, stored); });
    stored.ask_for_nothing();
  }
}

}  // namespace

const ByteUnit& tile_byte_unit() {
  static constexpr ByteUnit unit{
      .name = "AMX-INT8",
      .open = [](Index rows) { open_few_row_tiles(kBytePlaces * byte_rows_for(rows)); },
      .close = close_tiles,
      .products =
          [](Index rows, const std::uint32_t* columns, const float* units, const StoredRows& stored, float alpha,
             FewRows<float> products) {
            for_tiles_of_rows(rows, stored, [&](Index first, Index count, auto together, const StoredRows& of) {
              products_by_tiles<together()>(count, columns + first / kByteRows * digit_columns(rows, of.width),
                                            units + first, of, alpha,
                                            {products.data + first * products.row, products.row});
            });
          },
      .sums =
          [](Index rows, const std::int8_t* digits, const float* units, const StoredRows& stored, FewRows<float> sums) {
            for_tiles_of_rows(rows, stored, [&](Index first, Index count, auto together, const StoredRows& of) {
              sums_by_tiles<together()>(count, digits + first * kBytePlaces * kByteKeys, units + first, of,
                                        {sums.data + first * sums.row, sums.row});
            });
          }};
  return unit;
}

}  // namespace heed::kernels

#endif
