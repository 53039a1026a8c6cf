// The products of byte_rows.h by AVX-512's dot products of bytes (VNNI).
#include "heed/kernels/byte_sums-inl.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <algorithm>

#include "heed/kernels/byte_units.h"
#include "heed/kernels/lines_below.h"
#include "heed/kernels/word_order.h"

namespace heed::kernels {
namespace {

constexpr Index kLineWords = kDigitLine / 4;
constexpr Index kMostChunks = kMostByteRows / kByteRows;  // of rows that are multiplied together

// The unit multiplies bytes without a sign by bytes with one: 128 is added to a stored number (turn_digits).
HEED_DIGIT_INLINE __m512i without_sign(__m512i bytes) { return _mm512_xor_si512(bytes, _mm512_set1_epi8(-128)); }

// Not an intrinsic, for which GCC 12 moves sums from register to register.
HEED_DIGIT_INLINE void add_products(__m512i& sum, __m512i bytes, __m512i digits) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(digits));
}
HEED_DIGIT_INLINE __m512i broadcast(std::uint32_t word) { return _mm512_set1_epi32(static_cast<std::int32_t>(word)); }

// --- products --------------------------------------------------------------------------------------------------------

// Words of stored rows, those of sixteen rows in the lanes of a vector, for kGroups times sixteen rows; as many of a
// row at a time as stay in the first cache.
constexpr Index kTurnedLines = 4;
template <int kGroups>
struct TurnedRows {
  __m512i words[kTurnedLines * kLineWords][kGroups];

  // A line of the sixteen rows of a group.
  HEED_DIGIT_INLINE void read(const std::int8_t* at, Index row, Index line, Index group) {
    constexpr int kHalf = kLineWords / 2;
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half, at += kDigitLine / 2) {
      __m512i rows[kHalf];
#pragma GCC unroll 8
      for (int n = 0; n < kHalf; ++n) {
        const std::int8_t* const lower = at + (n < 4 ? n : 4 + n) * row;
        rows[n] = join_halves(lower, lower + 4 * row);
      }
      turn_half_lines(rows);
#pragma GCC unroll 8
      for (int w = 0; w < kHalf; ++w) words[line * kLineWords + half * kHalf + w][group] = without_sign(rows[w]);
    }
  }
};

template <int R, int kGroups>
using ProductSums = __m512i[R][kUsedPlaces][kGroups];

// f(r, place, group) for all sums, where they are in memory: what is captured does not stay in registers.
template <int R, int kGroups, class F>
HEED_DIGIT_INLINE void for_sums(const F& f) {
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
    for (int place = 0; place < kUsedPlaces; ++place)
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) f(r, place, g);
}

// The products of turned rows with the digits of R rows are added to their sums, while as many parts of lines are asked
// for as are met, if any are. A function of its own, for the sums take nearly all registers.
template <int R, int kGroups>
HEED_DIGIT_TARGET __attribute__((noinline)) void add_turned(const TurnedRows<kGroups>& turned, Index words,
                                                            const std::uint32_t* digits,
                                                            ProductSums<R, kGroups>& all_sums,
                                                            LinesBelow<kByteGroup>* below) {
  constexpr Index kAskedTogether = 4;
  ProductSums<R, kGroups> sums;
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
    for (int place = 0; place < kUsedPlaces; ++place)
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) sums[r][place][g] = all_sums[r][place][g];
  for (Index w = 0; w < words; ++w, digits += kBytePlaces * R) {
    if (w % kAskedTogether == 0 && below != nullptr) below->ask_beside_parts(kAskedTogether * kGroups);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
      for (int place = 0; place < kUsedPlaces; ++place) {
        const __m512i word = broadcast(digits[kBytePlaces * r + place]);
#pragma GCC unroll 4
        for (int g = 0; g < kGroups; ++g) add_products(sums[r][place][g], turned.words[w][g], word);
      }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
    for (int place = 0; place < kUsedPlaces; ++place)
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) all_sums[r][place][g] = sums[r][place][g];
}

// Of the rows from `key` on, kGroups times sixteen.
template <int R, int kGroups>
HEED_DIGIT_INLINE void products_of_groups(Index rows, const std::uint32_t* columns, const float* units,
                                          const StoredRows& stored, Index key, LinesBelow<kByteGroup>& below,
                                          const ByteScales& scales, float alpha, FewRows<float> products) {
  constexpr int kColumns = kBytePlaces * R;
  const Index lines = stored.width / kDigitLine, chunk_words = digit_columns(R, stored.width);
  const Index chunks = ceil_div(rows, Index{R});
  const auto* const at = static_cast<const std::int8_t*>(stored.data) + key * stored.row;
  ProductSums<R, kGroups> sums[kMostChunks];
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    const std::uint32_t* const begins = columns + (chunk + 1) * chunk_words - kColumns;
    for_sums<R, kGroups>([&](int r, int place, int g) HEED_DIGIT_TARGET {
      sums[chunk][r][place][g] = broadcast(begins[kBytePlaces * r + place]);
    });
  }
  for (Index line = 0; line < lines; line += kTurnedLines) {
    TurnedRows<kGroups> turned;
    const Index met = std::min(kTurnedLines, lines - line), words = met * kLineWords;
    for (Index n = line; n < line + met; ++n)
      for (Index g = 0; g < kGroups; ++g) {
        below.ask_beside(key + g * kByteGroup, n);
        turned.read(at + g * kByteGroup * stored.row + n * kDigitLine, stored.row, n - line, g);
      }
    const std::uint32_t* digits = columns + line * kLineWords * kColumns;
    for (Index chunk = 0; chunk < chunks; ++chunk, digits += chunk_words)
      add_turned<R, kGroups>(turned, words, digits, sums[chunk], chunk == 0 ? &below : nullptr);
  }
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    const Index row = chunk * R;
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
      __m512i of_group[kColumns];
      for_sums<R, 1>([&](int r, int place, int)
                         HEED_DIGIT_TARGET { of_group[kBytePlaces * r + place] = sums[chunk][r][place][g]; });
      const Index first = key + g * kByteGroup;
      store_products<R>(of_group, rows - row, units + row, scales.of + first, alpha,
                        products.data + row * products.row + first, products.row);
    }
  }
}

template <int R>
HEED_DIGIT_TARGET void products_by_dots(Index rows, const std::uint32_t* columns, const float* units,
                                        const StoredRows& stored, float alpha, FewRows<float> products) {
  constexpr int kGroups = R == 1 ? 4 : 2;  // as many sums as the unit's latency wants, and as registers hold
  LinesBelow<kByteGroup> below(stored, stored.row, stored.width);
  const ByteScales scales(stored);
  Index key = 0;
  for (; key + (kGroups - 1) * kByteGroup < stored.count; key += kGroups * kByteGroup)
    products_of_groups<R, kGroups>(rows, columns, units, stored, key, below, scales, alpha, products);
  for (; key < stored.count; key += kByteGroup)
    products_of_groups<R, 1>(rows, columns, units, stored, key, below, scales, alpha, products);
}

// --- sums ------------------------------------------------------------------------------------------------------------

// The digits of R rows of weights as columns, four keys' in a word, and what the sums of each begin at.
template <int R>
struct TurnedWeights {
  static constexpr int kColumns = kBytePlaces * R;
  alignas(64) std::uint32_t begins[kSumLanes], words[kByteKeys / 4][kSumLanes];

  HEED_DIGIT_INLINE void read(const std::int8_t* digits) {
    static_assert(kByteKeys == kDigitLine);
    __m512i rows[kSumLanes];
#pragma GCC unroll 16
    for (int n = 0; n < kSumLanes; ++n)
      rows[n] = n < kColumns ? _mm512_loadu_si512(digits + n * kByteKeys) : _mm512_setzero_si512();
    turn_words(rows);
    __m512i sums = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int n = 0; n < kSumLanes; ++n) {
      add_products(sums, _mm512_set1_epi8(1), rows[n]);
      _mm512_store_si512(words[n], rows[n]);
    }
    _mm512_store_si512(begins, _mm512_maskz_mullo_epi32(kWords, sums, _mm512_set1_epi32(-128)));
  }
};

constexpr int kQuads = kByteKeys / 4;

// A line of the values, from `column` on, and where it is read to.
struct QuadLine {
  QuadLine(const StoredRows& rows, RowsBelow& asked, Index from) : stored(rows), below(asked), column(from) {}
  const StoredRows& stored;
  RowsBelow& below;
  Index column;
  __m512i quads[kQuads][4];

  HEED_DIGIT_INLINE void read(Index quad) {
    below.ask_beside(4 * quad, column, kDigitLine);
    const auto* const at = static_cast<const std::int8_t*>(stored.data) + 4 * quad * stored.row + column;
    quads_of(at, stored.row, quads[quad]);
#pragma GCC unroll 4
    for (__m512i& words : quads[quad]) words = without_sign(words);
  }
};

// Two of the four vectors of sums, from `j` on, of R rows of weights; the line is read meanwhile, if it has not been. A
// function of its own, as above.
template <int R, bool kReads>
HEED_DIGIT_TARGET __attribute__((noinline)) void add_quads(const TurnedWeights<R>& weights, const float* units,
                                                           QuadLine& line, int j, __m512 (&parts)[R][4]) {
  constexpr int kTogether = 2;
  ProductSums<R, kTogether> sums;
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
    for (int place = 0; place < kUsedPlaces; ++place)
#pragma GCC unroll 4
      for (int n = 0; n < kTogether; ++n) sums[r][place][n] = broadcast(weights.begins[kBytePlaces * r + place]);
  const Index quads = ceil_div(line.stored.count, Index{4});
  for (Index quad = 0; quad < quads; ++quad) {
    if constexpr (kReads) line.read(quad);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
      for (int place = 0; place < kUsedPlaces; ++place) {
        const __m512i word = broadcast(weights.words[quad][kBytePlaces * r + place]);
#pragma GCC unroll 2
        for (int n = 0; n < kTogether; ++n) add_products(sums[r][place][n], line.quads[quad][j + n], word);
      }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int n = 0; n < kTogether; ++n)
      parts[r][j + n] = floats_of(sums[r][0][n], sums[r][1][n], sums[r][2][n], units[r]);
}

template <int R>
HEED_DIGIT_TARGET void sums_by_dots(Index rows, const std::int8_t* digits, const float* units, const StoredRows& stored,
                                    FewRows<float> result) {
  RowsBelow below(stored, stored.row, stored.width, {.at_once = kDigitLine, .rows = 4});
  const Index chunks = ceil_div(rows, Index{R});
  TurnedWeights<R> weights[kMostChunks];
  for (Index chunk = 0; chunk < chunks; ++chunk) weights[chunk].read(digits + chunk * R * kBytePlaces * kByteKeys);
  for (Index column = 0; column < stored.width; column += kDigitLine) {
    QuadLine line(stored, below, column);
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      const float* const of_chunk = units + chunk * R;
      __m512 parts[R][4];
      chunk == 0 ? add_quads<R, true>(weights[chunk], of_chunk, line, 0, parts)
                 : add_quads<R, false>(weights[chunk], of_chunk, line, 0, parts);
      add_quads<R, false>(weights[chunk], of_chunk, line, 2, parts);
      for (Index r = 0; r < std::min(rows - chunk * R, Index{R}); ++r)
        store_sums(parts[r], result.data + (chunk * R + r) * result.row + column);
    }
  }
}

}  // namespace

const ByteUnit& dot_byte_unit() {
  static constexpr ByteUnit unit{
      .name = "AVX512-VNNI",
      .open = [](Index) {},
      .close = [] {},
      .products =
          [](Index rows, auto... others) {
            for_few_rows<kByteRows>(rows, [&](auto together) { products_by_dots<together()>(rows, others...); });
          },
      .sums =
          [](Index rows, auto... others) {
            for_few_rows<kByteRows>(rows, [&](auto together) { sums_by_dots<together()>(rows, others...); });
          }};
  return unit;
}

}  // namespace heed::kernels

#endif
