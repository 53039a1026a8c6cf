#include "heed/kernels/tile_products.h"

#include <hwy/detect_targets.h>

#include "heed/base/check.h"
#include "heed/kernels/dot_features.h"
#include "heed/kernels/tile_target.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

#include <array>
#include <cstdint>

namespace heed::kernels {
namespace {

// Lines of a stored row that are asked for before they are multiplied.
constexpr Index kLinesAhead = 8;

template <bool kAsks>
HEED_TILE_TARGET inline void load_stored(const char* at, Index row) {
  if constexpr (kAsks) {
#pragma GCC unroll 16
    for (Index r = 0; r < kTileSide; ++r) _mm_prefetch(at + r * row + kLinesAhead * kTileLine, _MM_HINT_T0);
  }
  _tile_loadd(4, at, static_cast<std::size_t>(row));
}

// Tiles 0 to 3 are sums, 4 is of stored rows, and 5 to 7 are the columns' pieces from the lowest on.
constexpr int kStoredTile = 4;

#define HEED_ADD_TILE(sum)                                   \
  load_stored<kAsks>(a + sum * t.stored.tile, t.stored.row); \
  if constexpr (kNumbers == TileNumbers::bf16) {             \
    _tile_dpbf16ps(sum, 4, 5);                               \
    _tile_dpbf16ps(sum, 4, 6);                               \
    _tile_dpbf16ps(sum, 4, 7);                               \
  } else {                                                   \
    _tile_dpbssd(sum, 4, 5);                                 \
  }

template <TileNumbers kNumbers, int kTiles, bool kAsks>
HEED_TILE_TARGET void multiply(const TileProduct& t) {
  const Index piece = kTileLineWords * t.width;
  const auto column_row = static_cast<std::size_t>(t.width) * 4;
  auto* const c = static_cast<char*>(t.sums);
  const auto c_row = static_cast<std::size_t>(t.sums_row) * 4, c_tile = static_cast<std::size_t>(t.sums_tile) * 4;
  if (t.accumulate) {
    _tile_loadd(0, c, c_row);
    if constexpr (kTiles > 1) _tile_loadd(1, c + c_tile, c_row);
    if constexpr (kTiles > 2) _tile_loadd(2, c + 2 * c_tile, c_row);
    if constexpr (kTiles > 3) _tile_loadd(3, c + 3 * c_tile, c_row);
  } else {
    _tile_zero(0);
    if constexpr (kTiles > 1) _tile_zero(1);
    if constexpr (kTiles > 2) _tile_zero(2);
    if constexpr (kTiles > 3) _tile_zero(3);
  }
  const char* a = t.stored.data;
  const std::uint32_t* b = t.columns;
  for (Index line = 0; line < t.lines; ++line, a += t.stored.line, b += pieces_of(kNumbers) * piece) {
    if constexpr (kNumbers == TileNumbers::bf16) {
      _tile_loadd(5, b + 2 * piece, column_row);
      _tile_loadd(6, b + piece, column_row);
      _tile_loadd(7, b, column_row);
    } else {
      _tile_loadd(5, b, column_row);
    }
    HEED_ADD_TILE(0)
    if constexpr (kTiles > 1) {
      HEED_ADD_TILE(1)
    }
    if constexpr (kTiles > 2) {
      HEED_ADD_TILE(2)
    }
    if constexpr (kTiles > 3) {
      HEED_ADD_TILE(3)
    }
  }
  _tile_stored(0, c, c_row);
  if constexpr (kTiles > 1) _tile_stored(1, c + c_tile, c_row);
  if constexpr (kTiles > 2) _tile_stored(2, c + 2 * c_tile, c_row);
  if constexpr (kTiles > 3) _tile_stored(3, c + 3 * c_tile, c_row);
}
#undef HEED_ADD_TILE

template <TileNumbers kNumbers>
void multiply(const TileProduct& t) {
  if (t.ask_ahead) return multiply<kNumbers, 1, true>(t);
  switch (t.tiles) {
    case 1:
      return multiply<kNumbers, 1, false>(t);
    case 2:
      return multiply<kNumbers, 2, false>(t);
    case 3:
      return multiply<kNumbers, 3, false>(t);
    default:
      return multiply<kNumbers, kTilesTogether, false>(t);
  }
}

// Where the upper halves of two vectors' words lie.
struct alignas(64) UpperHalves {
  std::uint16_t place[32];
  constexpr UpperHalves() : place() {
    for (int n = 0; n < 32; ++n) place[n] = static_cast<std::uint16_t>(2 * n + 1);
  }
};
constexpr UpperHalves kUpperHalves;

// x without what its upper half holds, which stays in `x`: exact, and nothing where that is all of it.
HEED_TILE_TARGET inline __m512 take_upper_half(__m512& x) {
  const __m512 upper =
      _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(static_cast<int>(0xFFFF0000u))));
  const __m512 rest = _mm512_maskz_sub_ps(_mm512_cmp_ps_mask(x, upper, _CMP_NEQ_UQ), x, upper);
  x = upper;
  return rest;
}

// What the unit is told of its eight tiles.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  constexpr void set(int tile, Index tile_rows, Index bytes) {
    rows[tile] = static_cast<std::uint8_t>(tile_rows), row_bytes[tile] = static_cast<std::uint16_t>(bytes);
  }
};

// Where the columns' and the sums' are so wide.
constexpr TileShapes shapes_of_width(Index width) {
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) shapes.set(tile, kTileSide, width * 4);
  shapes.set(kStoredTile, kTileSide, kTileLine);
  return shapes;
}

constexpr TileShapes shapes_of_few_rows(Index rows) {
  TileShapes shapes;
  shapes.set(kStoredTile, kTileSide, kTileLine);
  for (int tile : {0, 5}) shapes.set(tile, kTileSide, rows * 4);
  for (int tile : {1, 2}) shapes.set(tile, rows, kTileLine);
  return shapes;
}

// Those for 1 to kTileSide. They lie in memory for good: GCC 12 is not told that all of one is read.
constexpr std::array<TileShapes, kTileSide> each(TileShapes (*of)(Index)) {
  std::array<TileShapes, kTileSide> shapes;
  for (Index n = 1; n <= kTileSide; ++n) shapes[static_cast<std::size_t>(n - 1)] = of(n);
  return shapes;
}
constexpr auto kShapes = each(shapes_of_width), kFewRowShapes = each(shapes_of_few_rows);

HEED_TILE_TARGET void configure(const std::array<TileShapes, kTileSide>& shapes, Index n) {
  _tile_loadconfig(&shapes[static_cast<std::size_t>(n - 1)]);
}

}  // namespace

bool has_tile_products(TileNumbers numbers) {
  const DotFeatures has = dot_features();
  return numbers == TileNumbers::bf16 ? has.amx_bf16 : has.amx_int8;
}

void open_tiles(Index width) { configure(kShapes, width); }
void open_few_row_tiles(Index rows) { configure(kFewRowShapes, rows); }
HEED_TILE_TARGET void close_tiles() { _tile_release(); }

void multiply_tiles(const TileProduct& t) {
  finish_stores();
  t.numbers == TileNumbers::bf16 ? multiply<TileNumbers::bf16>(t) : multiply<TileNumbers::bytes>(t);
}

HEED_TILE_TARGET void split_into_bf16(const float* x, Index width, BFloat16* high, BFloat16* middle, BFloat16* low) {
  const __m512i upper_halves = _mm512_load_si512(kUpperHalves.place);
  for (Index d = 0; d < width; d += 32) {
    const __mmask32 there = width - d >= 32 ? ~__mmask32{0} : (__mmask32{1} << (width - d)) - 1;
    __m512 first = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there), x + d);
    __m512 second = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there >> 16), x + d + 16);
    for (BFloat16* const to : {high, middle, low}) {
      const __m512 first_rest = take_upper_half(first), second_rest = take_upper_half(second);
      _mm512_mask_storeu_epi16(
          to + d, there,
          _mm512_permutex2var_epi16(_mm512_castps_si512(first), upper_halves, _mm512_castps_si512(second)));
      first = first_rest, second = second_rest;
    }
  }
}

}  // namespace heed::kernels

#else

namespace heed::kernels {

bool has_tile_products(TileNumbers) { return false; }
void open_tiles(Index) {}
void open_few_row_tiles(Index) {}
void close_tiles() {}
void multiply_tiles(const TileProduct&) { fail("multiply_tiles: there is no unit"); }
void split_into_bf16(const float*, Index, BFloat16*, BFloat16*, BFloat16*) {
  fail("split_into_bf16: there is no unit");
}

}  // namespace heed::kernels

#endif
