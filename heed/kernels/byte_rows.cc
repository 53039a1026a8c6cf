#include "heed/kernels/byte_rows.h"

#include "heed/base/check.h"
#include "heed/kernels/digit_target.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <algorithm>
#include <array>
#include <numeric>

#include "heed/kernels/lines_below.h"
#include "heed/kernels/tile_products.h"
#include "heed/kernels/tile_target.h"
#include "heed/kernels/word_order.h"

namespace heed::kernels {
namespace {

constexpr Index kLineWords = kDigitLine / 4, kLanes = 16;
constexpr int kUsedPlaces = static_cast<int>(kDigits);

// What the digits of three places have summed up to, times the unit, in f32: no sum of digits is rounded before they
// are put together, but where it takes more than 24 bits.
HEED_DIGIT_INLINE __m512 floats_of(__m512i high, __m512i middle, __m512i low, float unit) {
  const auto in_f32 = [](__m512i x) HEED_DIGIT_TARGET { return _mm512_maskz_cvtepi32_ps(kWords, x); };
  const __m512 lower = _mm512_fmadd_ps(in_f32(middle), _mm512_set1_ps(256), in_f32(low));
  return _mm512_mul_ps(_mm512_fmadd_ps(in_f32(high), _mm512_set1_ps(65536), lower), _mm512_set1_ps(unit));
}

struct RowScales {
  alignas(64) float of[kByteKeys] = {};
  explicit RowScales(const StoredRows& stored) {
    for (Index j = 0; j < stored.count; ++j) of[j] = stored.scales[j * stored.scale_row];
  }
};

// Of sixteen keys: sums of the digits of R rows, of kBytePlaces places each.
template <int R>
HEED_DIGIT_INLINE void store_products(const __m512i (&sums)[kBytePlaces * R], Index rows, const DigitTerms* terms,
                                      const float* scales, float alpha, float* to, Index to_row) {
  const __m512 of_keys = _mm512_load_ps(scales), factor = _mm512_set1_ps(alpha);
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r, to += to_row) {
    if (r == rows) break;
    const __m512i* const of = sums + kBytePlaces * r;
    const __m512 products = floats_of(of[0], of[1], of[2], static_cast<float>(terms[r].unit));
    _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_mul_ps(products, of_keys), factor));
  }
}

// A line of values of four keys in words, a number of each key in a word. Word 4 b + i of vector j is number
// 16 b + 4 j + i.
HEED_DIGIT_INLINE void quads_of(const std::int8_t* at, Index row, __m512i (&quads)[4]) {
  const auto line = [&](Index n) HEED_DIGIT_TARGET { return _mm512_loadu_si512(at + n * row); };
  constexpr __mmask64 kBytes = ~__mmask64{0};
  constexpr __mmask32 kHalfWords = ~__mmask32{0};
  const __m512i lower01 = _mm512_maskz_unpacklo_epi8(kBytes, line(0), line(1)),
                upper01 = _mm512_maskz_unpackhi_epi8(kBytes, line(0), line(1)),
                lower23 = _mm512_maskz_unpacklo_epi8(kBytes, line(2), line(3)),
                upper23 = _mm512_maskz_unpackhi_epi8(kBytes, line(2), line(3));
  quads[0] = _mm512_maskz_unpacklo_epi16(kHalfWords, lower01, lower23);
  quads[1] = _mm512_maskz_unpackhi_epi16(kHalfWords, lower01, lower23);
  quads[2] = _mm512_maskz_unpacklo_epi16(kHalfWords, upper01, upper23);
  quads[3] = _mm512_maskz_unpackhi_epi16(kHalfWords, upper01, upper23);
}

// The 64 sums of a row, in the order of quads_of().
HEED_DIGIT_INLINE void store_sums(const __m512 (&parts)[4], float* to) {
  constexpr int kEven = 0x88, kOdd = 0xDD;
  const auto blocks = [](__m512 x, __m512 y, int odd) HEED_DIGIT_TARGET {
    return odd != 0 ? _mm512_maskz_shuffle_f32x4(kWords, x, y, kOdd) : _mm512_maskz_shuffle_f32x4(kWords, x, y, kEven);
  };
  const __m512 even01 = blocks(parts[0], parts[1], 0), odd01 = blocks(parts[0], parts[1], 1),
               even23 = blocks(parts[2], parts[3], 0), odd23 = blocks(parts[2], parts[3], 1);
  _mm512_storeu_ps(to, blocks(even01, even23, 0));
  _mm512_storeu_ps(to + kLanes, blocks(odd01, odd23, 0));
  _mm512_storeu_ps(to + 2 * kLanes, blocks(even01, even23, 1));
  _mm512_storeu_ps(to + 3 * kLanes, blocks(odd01, odd23, 1));
}

// --- AVX-512 ---------------------------------------------------------------------------------------------------------

// The unit multiplies bytes without a sign by bytes with one: 128 is added to a stored number, and a sum begins at
// minus 128 times the sum of its digits, which it will have been given too much.
HEED_DIGIT_INLINE __m512i without_sign(__m512i bytes) { return _mm512_xor_si512(bytes, _mm512_set1_epi8(-128)); }
HEED_DIGIT_INLINE __m512i add_products(__m512i sum, __m512i bytes, const void* digits) {
  std::int32_t word;
  __builtin_memcpy(&word, digits, sizeof(word));
  return _mm512_dpbusd_epi32(sum, bytes, _mm512_set1_epi32(word));
}

template <int R>
HEED_DIGIT_TARGET void products_by_dots(Index rows, const std::uint32_t* columns, const DigitTerms* terms,
                                        const StoredRows& stored, float alpha, FewRows<float> products) {
  LinesBelow<kByteGroup> below(stored, stored.row, stored.width);
  const RowScales scales(stored);
  constexpr int kColumns = kBytePlaces * R;
  constexpr auto kHere = static_cast<__mmask16>((1u << kColumns) - 1);
  __m512i of_columns = _mm512_setzero_si512();
  for (Index w = 0; w < stored.width / 4; ++w) {
    of_columns =
        _mm512_dpbusd_epi32(of_columns, _mm512_set1_epi8(1), _mm512_maskz_loadu_epi32(kHere, columns + w * kColumns));
  }
  alignas(64) std::int32_t begin[kLanes];
  _mm512_store_si512(begin, _mm512_maskz_mullo_epi32(kWords, of_columns, _mm512_set1_epi32(-128)));
  for (Index key = 0; key < stored.count; key += kByteGroup) {
    __m512i sums[kColumns];
#pragma GCC unroll 16
    for (int n = 0; n < kColumns; ++n) sums[n] = _mm512_set1_epi32(begin[n]);
    const std::uint32_t* digits = columns;
    for (Index at = 0; at < stored.width; at += kDigitLine) {
      below.ask_beside(key, at / kDigitLine);
      __m512i words[kLineWords];
#pragma GCC unroll 16
      for (int n = 0; n < kByteGroup; ++n)
        words[n] = _mm512_loadu_si512(static_cast<const std::int8_t*>(stored.data) + (key + n) * stored.row + at);
      turn_words(words);
#pragma GCC unroll 16
      for (int w = 0; w < kLineWords; ++w, digits += kColumns) {
        if (w % 4 == 0) below.ask_beside_parts(4);
        const __m512i bytes = without_sign(words[w]);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
          for (int place = 0; place < kUsedPlaces; ++place) {
            const int n = kBytePlaces * r + place;
            sums[n] = add_products(sums[n], bytes, digits + n);
          }
      }
    }
    store_products<R>(sums, rows, terms, scales.of + key, alpha, products.data + key, products.row);
  }
}

template <int R>
HEED_DIGIT_TARGET void sums_by_dots(Index rows, const std::int8_t* digits, const DigitTerms* terms,
                                    const StoredRows& stored, FewRows<float> result) {
  RowsBelow below(stored, stored.row, stored.width, {.at_once = kDigitLine, .rows = 4});
  constexpr int kQuads = kByteKeys / 4, kTogether = 2;
  const int quads = static_cast<int>(ceil_div(stored.count, Index{4}));
  std::int32_t begin[kBytePlaces * R];
  for (int n = 0; n < kBytePlaces * R; ++n) {
    const std::int8_t* const of_row = digits + n * kByteKeys;
    begin[n] = -128 * std::accumulate(of_row, of_row + kByteKeys, 0);
  }
  for (Index column = 0; column < stored.width; column += kDigitLine) {
    __m512i words[kQuads][4];
    const auto* row = static_cast<const std::int8_t*>(stored.data) + column;
    for (int quad = 0; quad < quads; ++quad, row += 4 * stored.row) {
      below.ask_beside(4 * quad, column, kDigitLine);
      quads_of(row, stored.row, words[quad]);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) words[quad][j] = without_sign(words[quad][j]);
    }
    __m512 parts[R][4];
#pragma GCC unroll 2
    for (int j = 0; j < 4; j += kTogether) {
      __m512i sums[R][kTogether][kUsedPlaces];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int n = 0; n < kTogether; ++n)
#pragma GCC unroll 3
          for (int place = 0; place < kUsedPlaces; ++place)
            sums[r][n][place] = _mm512_set1_epi32(begin[kBytePlaces * r + place]);
      for (int quad = 0; quad < quads; ++quad) {
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
          for (int place = 0; place < kUsedPlaces; ++place) {
            const std::int8_t* const of = digits + (kBytePlaces * r + place) * kByteKeys + 4 * quad;
#pragma GCC unroll 2
            for (int n = 0; n < kTogether; ++n)
              sums[r][n][place] = add_products(sums[r][n][place], words[quad][j + n], of);
          }
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int n = 0; n < kTogether; ++n) {
          parts[r][j + n] = floats_of(sums[r][n][0], sums[r][n][1], sums[r][n][2], static_cast<float>(terms[r].unit));
        }
    }
    for (int r = 0; r < R && r < rows; ++r) store_sums(parts[r], result.data + r * result.row + column);
  }
}

// --- AMX -------------------------------------------------------------------------------------------------------------

// Sums are finished while the next ones are in the tiles, and lines are asked for beside both.
template <int R>
HEED_TILE_TARGET void products_by_tiles(Index rows, const std::uint32_t* columns, const DigitTerms* terms,
                                        const StoredRows& stored, float alpha, FewRows<float> products) {
  constexpr int kColumns = kBytePlaces * R;
  constexpr Index kHalf = kByteGroup / 2;
  LinesBelow<kByteGroup> below(stored, stored.row, stored.width);
  const RowScales scales(stored);
  const Index lines = stored.width / kDigitLine;
  alignas(64) std::int32_t sums[2][kByteGroup * kColumns];
  const auto finish = [&](Index key) HEED_TILE_TARGET {
    finish_stores();
    __m512i x[kColumns];
#pragma GCC unroll 16
    for (int n = 0; n < kColumns; ++n) x[n] = _mm512_load_si512(sums[key / kByteGroup % 2] + n * kLanes);
    part_words(x);
    below.ask_beside_parts(kHalf * lines);
    store_products<R>(x, rows, terms, scales.of + key, alpha, products.data + key, products.row);
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
HEED_TILE_TARGET void sums_by_tiles(Index rows, const std::int8_t* digits, const DigitTerms* terms,
                                    const StoredRows& stored, FewRows<float> result) {
  constexpr int kColumns = kBytePlaces * R;
  constexpr Index kStepsAfter = 16;
  RowsBelow below(stored, stored.row, stored.width, {.at_once = kDigitLine, .rows = 4, .after = kStepsAfter});
  alignas(64) std::uint32_t words[4][kByteKeys / 4 * kLanes] = {};
  alignas(64) std::int32_t sums[2][4][kColumns * kLanes];
  const auto finish = [&](Index column) HEED_TILE_TARGET {
    finish_stores();
    for (int r = 0; r < R && r < rows; ++r) {
      below.ask_beside_steps(kStepsAfter / R);
      __m512 parts[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const auto of = [&](int place) HEED_TILE_TARGET {
          return _mm512_load_si512(&sums[column / kDigitLine % 2][j][(kBytePlaces * r + place) * kLanes]);
        };
        parts[j] = floats_of(of(0), of(1), of(2), static_cast<float>(terms[r].unit));
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
      for (int j = 0; j < 4; ++j) _mm512_store_si512(&words[j][key / 4 * kLanes], quads[j]);
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

// Runs what has been compiled for so many rows.
#define HEED_FOR_BYTE_ROWS(function)                                                              \
  [](Index rows, auto... others) {                                                                \
    for_few_rows<kByteRows>(rows, [&](auto computed) { function<computed()>(rows, others...); }); \
  }

constexpr ByteUnit kAmx{.name = "AMX-INT8",
                        .open = [](Index rows) { open_few_row_tiles(kBytePlaces * byte_rows_for(rows)); },
                        .close = close_tiles,
                        .products = HEED_FOR_BYTE_ROWS(products_by_tiles),
                        .sums = HEED_FOR_BYTE_ROWS(sums_by_tiles)};
constexpr ByteUnit kAvx512{.name = "AVX512-VNNI",
                           .open = [](Index) {},
                           .close = [] {},
                           .products = HEED_FOR_BYTE_ROWS(products_by_dots),
                           .sums = HEED_FOR_BYTE_ROWS(sums_by_dots)};
#undef HEED_FOR_BYTE_ROWS

constexpr std::array kUnits = {kAmx, kAvx512};

}  // namespace

void turn_digits(Index row, Index rows, const std::int8_t* digits, Index width, std::uint32_t* columns) {
  const Index places = kBytePlaces * byte_rows_for(rows), place_bytes = digit_row_bytes(width) / kDigits;
  for (Index place = 0; place < kBytePlaces; ++place)
    for (Index w = 0; w < place_bytes / 4; ++w) {
      std::uint32_t word = 0;
      if (place < kDigits) __builtin_memcpy(&word, digits + place * place_bytes + 4 * w, sizeof(word));
      columns[w * places + kBytePlaces * row + place] = word;
    }
}

std::span<const ByteUnit> byte_units() {
  if (!has_digit_products()) return {};
  return std::span(kUnits).subspan(has_tile_products(TileNumbers::bytes) ? 0 : 1);
}

}  // namespace heed::kernels

#else

namespace heed::kernels {

void turn_digits(Index, Index, const std::int8_t*, Index, std::uint32_t*) { fail("turn_digits: there is no unit"); }
std::span<const ByteUnit> byte_units() { return {}; }

}  // namespace heed::kernels

#endif
