#include "heed/kernels/pair_unit.h"

#include <hwy/detect_targets.h>

#include <array>
#include <utility>

#include "heed/kernels/dot_features.h"
#include "heed/kernels/pair_rows.h"
#include "heed/kernels/tile_products.h"
#include "heed/kernels/tile_target.h"

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <immintrin.h>
#endif

namespace heed::kernels {

#if HWY_ARCH_X86_64 && defined(__linux__)
namespace {

constexpr Index kLanes = 16;

// --- AMX -------------------------------------------------------------------------------------------------------------

// c = c decay, of kRows rows of kVectors vectors; mostly all of decay is one.
template <int kRows, int kVectors>
HEED_PAIR_TARGET inline void decay_rows(const float* decay, float* c, Index c_row) {
  __m512 of_columns[kVectors];
  unsigned others = 0;
#pragma GCC unroll 2
  for (int n = 0; n < kVectors; ++n) {
    of_columns[n] = _mm512_loadu_ps(decay + n * kLanes);
    others |= _mm512_cmp_ps_mask(of_columns[n], _mm512_set1_ps(1.0f), _CMP_NEQ_UQ);
  }
  if (others == 0) return;
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r, c += c_row)
#pragma GCC unroll 2
    for (int n = 0; n < kVectors; ++n) {
      _mm512_storeu_ps(c + n * kLanes, _mm512_mul_ps(_mm512_loadu_ps(c + n * kLanes), of_columns[n]));
    }
  finish_stores();
}
// c = c alpha, of as many.
template <int kRows, int kVectors>
HEED_PAIR_TARGET inline void multiply_all(float alpha, float* c, Index c_row) {
  const __m512 factor = _mm512_set1_ps(alpha);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r, c += c_row)
#pragma GCC unroll 2
    for (int n = 0; n < kVectors; ++n) {
      _mm512_storeu_ps(c + n * kLanes, _mm512_mul_ps(_mm512_loadu_ps(c + n * kLanes), factor));
    }
}

// kM x kN tiles of c, at [i, j]: tiles 0 to 3 are sums, 4 and 5 lie in a, 6 and 7 in b.
template <int kM, int kN>
HEED_TILE_TARGET void multiply_tiles(const PairProduct& t, Index i, Index j) {
  constexpr Index kSide = kPairRows;
  float* const c = t.c + i * t.c_row + j;
  const auto a_bytes = static_cast<std::size_t>(t.a_row) * 2, b_bytes = static_cast<std::size_t>(t.b_row) * 4,
             c_bytes = static_cast<std::size_t>(t.c_row) * 4;
  if (t.accumulate) {
    if (t.decay != nullptr) decay_rows<kM * kSide, kN>(t.decay + j, c, t.c_row);
    _tile_loadd(0, c, c_bytes);
    if constexpr (kN == 2) _tile_loadd(1, c + kSide, c_bytes);
    if constexpr (kM == 2) _tile_loadd(2, c + kSide * t.c_row, c_bytes);
    if constexpr (kM == 2 && kN == 2) _tile_loadd(3, c + kSide * t.c_row + kSide, c_bytes);
  } else {
    _tile_zero(0);
    if constexpr (kN == 2) _tile_zero(1);
    if constexpr (kM == 2) _tile_zero(2);
    if constexpr (kM == 2 && kN == 2) _tile_zero(3);
  }
  for (Index k = 0; k < t.k; k += kPairDepth) {
    const BFloat16* const a = t.a + i * t.a_row + k;
    const std::uint32_t* const b = t.b + k / 2 * t.b_row + j;
    _tile_loadd(4, a, a_bytes);
    _tile_loadd(6, b, b_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kN == 2) {
      _tile_loadd(7, b + kSide, b_bytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kM == 2) {
      _tile_loadd(5, a + kSide * t.a_row, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kN == 2) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, c, c_bytes);
  if constexpr (kN == 2) _tile_stored(1, c + kSide, c_bytes);
  if constexpr (kM == 2) _tile_stored(2, c + kSide * t.c_row, c_bytes);
  if constexpr (kM == 2 && kN == 2) _tile_stored(3, c + kSide * t.c_row + kSide, c_bytes);
  if (t.accumulate || t.alpha == 1) return;
  finish_stores();
  multiply_all<kM * kSide, kN>(t.alpha, c, t.c_row);
}

void multiply_by_amx(const PairProduct& t) {
  finish_stores();
  constexpr Index kPair = 2 * kPairRows;
  Index i = 0;
  for (; i + kPair <= t.m; i += kPair) {
    Index j = 0;
    for (; j + kPair <= t.n; j += kPair) multiply_tiles<2, 2>(t, i, j);
    if (j < t.n) multiply_tiles<2, 1>(t, i, j);
  }
  if (i == t.m) return;
  Index j = 0;
  for (; j + kPair <= t.n; j += kPair) multiply_tiles<1, 2>(t, i, j);
  if (j < t.n) multiply_tiles<1, 1>(t, i, j);
}

// --- AVX-512 ---------------------------------------------------------------------------------------------------------

// kRows rows and kVectors vectors of c, at [i, j]. All is unrolled: in a loop the sums would have to lie in memory.
template <int kRows, int kVectors>
HEED_PAIR_TARGET void multiply_vectors(const PairProduct& t, Index i, Index j) {
  __m512 sums[kRows][kVectors];
  float* const c = t.c + i * t.c_row + j;
  if (t.accumulate) {
    __m512 decay[kVectors];
#pragma GCC unroll 4
    for (int n = 0; n < kVectors; ++n) {
      decay[n] = t.decay != nullptr ? _mm512_loadu_ps(t.decay + j + n * kLanes) : _mm512_set1_ps(1.0f);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int n = 0; n < kVectors; ++n) {
        sums[r][n] = _mm512_mul_ps(_mm512_loadu_ps(c + r * t.c_row + n * kLanes), decay[n]);
      }
  } else {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int n = 0; n < kVectors; ++n) sums[r][n] = _mm512_setzero_ps();
  }
  for (Index p = 0; p < t.k / 2; ++p) {
    __m512i b[kVectors];
#pragma GCC unroll 4
    for (int n = 0; n < kVectors; ++n) b[n] = _mm512_loadu_si512(t.b + p * t.b_row + j + n * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      std::int32_t pair;
      __builtin_memcpy(&pair, t.a + (i + r) * t.a_row + 2 * p, sizeof(pair));
      const __m512i a = _mm512_set1_epi32(pair);
#pragma GCC unroll 4
      for (int n = 0; n < kVectors; ++n) {
        sums[r][n] = _mm512_dpbf16_ps(sums[r][n], reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b[n]));
      }
    }
  }
  const __m512 alpha = _mm512_set1_ps(t.accumulate ? 1.0f : t.alpha);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int n = 0; n < kVectors; ++n) {
      _mm512_storeu_ps(c + r * t.c_row + n * kLanes, _mm512_mul_ps(sums[r][n], alpha));
    }
}

// The columns from `j` on, kVectors vectors of them, in blocks of nearly the same height.
template <int kMost, int kVectors>
void multiply_columns(const PairProduct& t, Index j) {
  static constexpr auto kBlocks = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array{multiply_vectors<I + 1, kVectors>...};
  }
  (std::make_integer_sequence<int, kMost>());
  Index blocks = ceil_div(t.m, Index{kMost});
  for (Index i = 0; i < t.m; --blocks) {
    const Index height = ceil_div(t.m - i, blocks);
    kBlocks[static_cast<std::size_t>(height - 1)](t, i, j);
    i += height;
  }
}

void multiply_by_avx512(const PairProduct& t) {
  Index j = 0;
  for (; j + 4 * kLanes <= t.n; j += 4 * kLanes) multiply_columns<6, 4>(t, j);
  for (; j + 2 * kLanes <= t.n; j += 2 * kLanes) multiply_columns<12, 2>(t, j);
  if (j < t.n) multiply_columns<12, 1>(t, j);
}

void open_nothing() {}

// --- Forms -----------------------------------------------------------------------------------------------------------

// Words n, of 32, have number n of the first in the lower half and that of the second in the upper one.
struct alignas(64) PairOrder {
  std::uint16_t first[32], second[32];
  constexpr PairOrder() : first(), second() {
    for (int n = 0; n < 16; ++n) {
      first[2 * n] = static_cast<std::uint16_t>(n), first[2 * n + 1] = static_cast<std::uint16_t>(n + 32);
      second[2 * n] = static_cast<std::uint16_t>(n + 16), second[2 * n + 1] = static_cast<std::uint16_t>(n + 48);
    }
  }
};
constexpr PairOrder kPairOrder;

HEED_PAIR_TARGET void pair_rows(const BFloat16* x, Index x_row, Index rows, Index width, std::uint32_t* to,
                                Index to_row) {
  const __m512i first = _mm512_load_si512(kPairOrder.first), second = _mm512_load_si512(kPairOrder.second);
  const Index to_width = round_up(width, kPairRows);
  for (Index p = 0; p < round_up(rows, kPairDepth) / 2; ++p)
    for (Index d = 0; d < width; d += 32) {
      const __mmask32 there = width - d >= 32 ? ~__mmask32{0} : (__mmask32{1} << (width - d)) - 1;
      const BFloat16* const at = x + 2 * p * x_row + d;
      const __m512i lower = 2 * p < rows ? _mm512_maskz_loadu_epi16(there, at) : _mm512_setzero_si512();
      const __m512i upper = 2 * p + 1 < rows ? _mm512_maskz_loadu_epi16(there, at + x_row) : _mm512_setzero_si512();
      std::uint32_t* const word = to + p * to_row + d;
      _mm512_storeu_si512(word, _mm512_permutex2var_epi16(lower, first, upper));
      if (d + kLanes < to_width) _mm512_storeu_si512(word + kLanes, _mm512_permutex2var_epi16(lower, second, upper));
    }
}

// The numbers of `lower` and then those of `upper`.
HEED_PAIR_TARGET inline __m512i rounded(__m512 lower, __m512 upper) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(upper, lower));
}

HEED_PAIR_TARGET void round_rows(const float* x, Index rows, Index lanes, BFloat16* to, Index to_row) {
  for (Index r = 0; r < round_up(rows, kPairRows); ++r)
    for (Index lane = 0; lane < lanes; lane += kPairDepth) {
      const float* const at = x + r * lanes + lane;
      const __m512 lower = r < rows ? _mm512_loadu_ps(at) : _mm512_setzero_ps();
      const __m512 upper = r < rows && lane + kLanes < lanes ? _mm512_loadu_ps(at + kLanes) : _mm512_setzero_ps();
      _mm512_storeu_si512(to + r * to_row + lane, rounded(lower, upper));
    }
}

constexpr PairUnit kAmx{.name = "AMX-BF16",
                        .rows = kPairRows,
                        .tile_lanes = 32,
                        .open = [] { open_tiles(kTileSide); },
                        .open_few_rows = [](Index rows) { open_few_row_tiles(few_rows_for(rows)); },
                        .close = close_tiles,
                        .multiply = multiply_by_amx,
                        .pair_rows = pair_rows,
                        .round_rows = round_rows,
                        .row_products = row_products_by_tiles,
                        .row_sums = row_sums_by_tiles};
constexpr PairUnit kAvx512{.name = "AVX512-BF16",
                           .rows = 4,
                           .tile_lanes = 64,
                           .open = open_nothing,
                           .open_few_rows = [](Index) {},
                           .close = open_nothing,
                           .multiply = multiply_by_avx512,
                           .pair_rows = pair_rows,
                           .round_rows = round_rows,
                           .row_products = row_products_by_avx512,
                           .row_sums = row_sums_by_avx512};

const std::array<PairUnit, 2> kUnits = {kAmx, kAvx512};

}  // namespace

std::span<const PairUnit> pair_units() {
  const DotFeatures has = dot_features();
  if (!has.avx512_bf16) return {};
  return std::span(kUnits).subspan(has.amx_bf16 ? 0 : 1);
}

#else

std::span<const PairUnit> pair_units() { return {}; }

#endif

namespace {
const PairUnit* forced = nullptr;
}  // namespace

const PairUnit* pair_unit() {
  const std::span<const PairUnit> units = pair_units();
  if (units.empty()) return nullptr;
  if (forced != nullptr) return forced;
  const DotFeatures has = dot_features();
  return has.amx_bf16 || has.avx512_bf16_is_wide ? &units.front() : nullptr;
}

void force_pair_unit(const PairUnit* unit) { forced = unit; }

}  // namespace heed::kernels
