// Few rows of bf16 with many by AMX's tiles. Of keys, sixteen rows are a factor as they lie, and rows of queries are
// columns of the other one; of values two rows become pairs, and rows of weights are the other factor. In
// PairUnit::multiply the factors have changed places, and a sum has the same order.
#include "heed/kernels/pair_rows.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

#include <algorithm>

#include "heed/kernels/lines_below.h"
#include "heed/kernels/tile_products.h"
#include "heed/kernels/tile_target.h"
#include "heed/kernels/word_order.h"

namespace heed::kernels {
namespace {

constexpr Index kSize = sizeof(BFloat16), kLineNumbers = kTileLine / kSize;
constexpr Index kKeys = 64;  // that are multiplied together, at most

// The tiles are those of open_few_row_tiles.
template <int R>
HEED_TILE_TARGET void products_of_rows(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored,
                                       float alpha, FewRows<float> products) {
  constexpr Index kMostLines = 8;
  LinesBelow<kTileSide> below(stored, stored.row * kSize, stored.width * kSize);
  const auto row_bytes = static_cast<std::size_t>(stored.row * kSize);
  alignas(64) std::uint32_t columns[kMostLines][kTileSide * R];
  alignas(64) float sums[kKeys * R];
  const Index all_lines = stored.width / kLineNumbers;
  for (Index first = 0; first < all_lines; first += kMostLines) {
    const Index lines = std::min(kMostLines, all_lines - first);
    for (Index l = 0; l < lines; ++l) {
      __m512i x[R];
      for (int r = 0; r < R; ++r) x[r] = _mm512_loadu_si512(a + r * a_row + (first + l) * kLineNumbers);
      join_words(x);
      for (int r = 0; r < R; ++r) _mm512_store_si512(&columns[l][r * kTileSide], x[r]);
    }
    finish_stores();
    for (Index key = 0; key < stored.count; key += kTileSide) {
      const auto* at = static_cast<const BFloat16*>(stored.data) + key * stored.row + first * kLineNumbers;
      float* const to = sums + key * R;
      if (first == 0) {
        _tile_zero(0);
      } else {
        _tile_loadd(0, to, 4 * R);
      }
      for (Index l = 0; l < lines; ++l, at += kLineNumbers) {
        below.ask_beside(key, first + l);
        below.ask_beside_parts(kTileSide);
        _tile_loadd(4, at, row_bytes);
        _tile_loadd(5, columns[l], 4 * R);
        _tile_dpbf16ps(0, 4, 5);
      }
      _tile_stored(0, to, 4 * R);
    }
    finish_stores();
  }
  for (Index key = 0; key < stored.count; key += kTileSide) {
    __m512i x[R];
    for (int r = 0; r < R; ++r) x[r] = _mm512_load_si512(sums + key * R + r * kTileSide);
    part_words(x);
    for (int r = 0; r < R; ++r) {
      if (r == rows) break;
      float* const to = products.data + r * products.row + key;
      _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_castsi512_ps(x[r]), _mm512_set1_ps(alpha)));
    }
  }
}

HEED_TILE_TARGET void sums_of_rows(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                                   const float* decays, FewRows<float> result) {
  constexpr Index kLines = 4, kTiles = 2 * kLines, kStepsOfTile = 2;
  RowsBelow below(stored, stored.row * kSize, stored.width * kSize,
                  {.at_once = kLines * kTileLine, .rows = 2, .after = kTiles * kStepsOfTile});
  alignas(64) std::uint32_t pairs[kTiles][kKeys / 2 * kTileSide];
  const Index depth = round_up(stored.count, kLineNumbers);
  alignas(64) float sums[kFewRows * kTileSide];
  const __m512i zeros = _mm512_setzero_si512();
  for (Index r = 0; decays != nullptr && r < rows; ++r) {
    if (decays[r] == 1) continue;
    float* const row = result.data + r * result.row;
    for (Index at = 0; at < result.row; at += kTileSide)
      _mm512_storeu_ps(row + at, _mm512_mul_ps(_mm512_loadu_ps(row + at), _mm512_set1_ps(decays[r])));
  }
  for (Index column = 0; column < stored.width; column += kLines * kLineNumbers) {
    const Index lines = std::min(kLines, (stored.width - column) / kLineNumbers);
    const auto* row = static_cast<const BFloat16*>(stored.data) + column;
    for (Index key = 0; key < depth; key += 2, row += 2 * stored.row) {
      const bool one = key < stored.count, other = key + 1 < stored.count;
      if (one) below.ask_beside(key, column * kSize, lines * kTileLine);
      for (Index l = 0; l < lines; ++l) {
        const BFloat16* const at = row + l * kLineNumbers;
        const __m512i lower = one ? _mm512_loadu_si512(at) : zeros,
                      upper = other ? _mm512_loadu_si512(at + stored.row) : zeros;
        _mm512_store_si512(&pairs[2 * l][key / 2 * kTileSide], pair_half_words(lower, upper, false));
        _mm512_store_si512(&pairs[2 * l + 1][key / 2 * kTileSide], pair_half_words(lower, upper, true));
      }
    }
    finish_stores();
    for (Index tile = 0; tile < 2 * lines; ++tile) {
      const Index at = column + tile * kTileSide;
      if (at >= result.row) break;
      below.ask_beside_steps(kStepsOfTile);
      if (decays != nullptr) {
        _tile_loadd(1, result.data + at, static_cast<std::size_t>(result.row) * sizeof(float));
      } else {
        _tile_zero(1);
      }
      for (Index key = 0; key < depth; key += kLineNumbers) {
        _tile_loadd(2, weights + key, static_cast<std::size_t>(weights_row * kSize));
        _tile_loadd(4, &pairs[tile][key / 2 * kTileSide], kTileLine);
        _tile_dpbf16ps(1, 2, 4);
      }
      _tile_stored(1, sums, kTileLine);
      finish_stores();
      for (Index r = 0; r < rows; ++r)
        _mm512_storeu_ps(result.data + r * result.row + at, _mm512_load_ps(sums + r * kTileSide));
    }
  }
}

}  // namespace

void row_products_by_tiles(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored, float alpha,
                           FewRows<float> products) {
  for_few_rows(rows, [&](auto computed) { products_of_rows<computed()>(rows, a, a_row, stored, alpha, products); });
}

void row_sums_by_tiles(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                       const float* decays, FewRows<float> sums) {
  sums_of_rows(rows, weights, weights_row, stored, decays, sums);
}

}  // namespace heed::kernels

#endif
