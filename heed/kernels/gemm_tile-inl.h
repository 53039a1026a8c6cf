// The tiles of a small product, on any Highway target: c[i, j] from a chain of steps over a[i, p] and b[p, j], where a
// step is a multiplication (gemm_tile.cc) or what a score has in its place. Included once per target, as Highway's own
// -inl headers are.
#if defined(HEED_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_TILE_INL_H_
#undef HEED_KERNELS_GEMM_TILE_INL_H_
#else
#define HEED_KERNELS_GEMM_TILE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "heed/kernels/gemm_ahead.h"
#include "heed/kernels/gemm_tile.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Floats()));

// A micro-tile is kRows x (2 vectors): as many accumulators as the register file holds beside two vectors of b and one
// of a.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kRows = 8;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
constexpr Index kPanel = 2 * kLanes;  // columns of b that are worked on together
// Where registers are many, a wider tile has fewer loads for each step, and a longer one more chains for one vector.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool kManyRegisters = true;
#else
constexpr bool kManyRegisters = false;
#endif

// A masked load or store must not touch what lies past the mask; only these targets promise that.
#undef HEED_TRUE_MASKS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define HEED_TRUE_MASKS 1
#else
#define HEED_TRUE_MASKS 0
#endif

HWY_INLINE Vector load_first(const float* from, Index count) {
  const Floats d;
  if (count >= kLanes) return hn::LoadU(d, from);
#if HEED_TRUE_MASKS
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(std::max<Index>(count, 0))), d, from);
#else
  HWY_ALIGN float buffer[kLanes] = {};
  for (Index j = 0; j < count; ++j) buffer[j] = from[j];
  return hn::Load(d, buffer);
#endif
}

HWY_INLINE void store_first(Vector v, float* to, Index count) {
  const Floats d;
  if (count >= kLanes) return hn::StoreU(v, d, to);
#if HEED_TRUE_MASKS
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(std::max<Index>(count, 0))), d, to);
#else
  HWY_ALIGN float buffer[kLanes];
  hn::Store(v, d, buffer);
  for (Index j = 0; j < count; ++j) to[j] = buffer[j];
#endif
}

// One micro-tile: R rows of a, from `row` on, against kVectors vectors of columns, the last of which may be short.
// b_row counts floats from one p to the next; with kWholeLoads, whole vectors of b may be read; with kAhead, one of
// `lines` is asked for at each p.
template <class Step, int R, int kVectors, bool kWholeLoads, bool kAhead = false>
HWY_INLINE void micro_tile(const GemmTile& t, Index row, const float* HWY_RESTRICT b, Index b_row, Index first_column,
                           Index columns, const char* const* lines = nullptr) {
  const Floats d;
  const float* HWY_RESTRICT a = t.a.data + row * t.a.row;
  float* HWY_RESTRICT c = t.c + row * t.c_row + first_column;
  const float* bias = t.bias != nullptr ? t.bias + first_column : nullptr;
  const float* decay = t.decay != nullptr ? t.decay + first_column : nullptr;
  Vector sum[R][kVectors];
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i)
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  for (Index p = 0; p < t.k; ++p) {
    if constexpr (kAhead) __builtin_prefetch(lines[p], 0, 2);  // into the second cache: the first one is full of tiles
    Vector column[kVectors];
    for (int v = 0; v < kVectors; ++v)
      column[v] = kWholeLoads ? hn::LoadU(d, b + p * b_row + v * kLanes)
                              : load_first(b + p * b_row + v * kLanes, columns - v * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < R; ++i) {
      const Vector factor = hn::Set(d, a[i * t.a.row + p * t.a.col]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = Step::add(factor, column[v], sum[i][v]);
    }
  }
  // Times one changes no bit.
  const float* alpha = t.row_alpha != nullptr ? t.row_alpha + row : &t.alpha;
  const Index next = t.row_alpha != nullptr ? 1 : 0;
  if (columns == kVectors * kLanes && bias == nullptr && !t.accumulate) {
    HWY_UNROLL(16)
    for (int i = 0; i < R; ++i) {
      const Vector factor = hn::Set(d, alpha[i * next]);
      for (int v = 0; v < kVectors; ++v) hn::StoreU(hn::Mul(sum[i][v], factor), d, c + i * t.c_row + v * kLanes);
    }
    return;
  }
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + i * t.c_row + v * kLanes;
      const Index count = columns - v * kLanes;
      Vector value = hn::Mul(sum[i][v], hn::Set(d, alpha[i * next]));
      if (bias != nullptr) value = hn::Add(value, load_first(bias + v * kLanes, count));
      if (t.accumulate && decay != nullptr) {
        value = hn::MulAdd(load_first(to, count), load_first(decay + v * kLanes, count), value);
      } else if (t.accumulate) {
        value = hn::Add(value, load_first(to, count));
      }
      store_first(value, to, count);
    }
  }
}

// The rows [begin, begin + R) of a panel of columns.
template <class Step, int R>
HWY_INLINE void row_block(const GemmTile& t, Index begin, const float* b, Index b_row, bool whole, Index first_column,
                          Index columns) {
  if (columns > kLanes) {
    if (whole) {
      micro_tile<Step, R, 2, true>(t, begin, b, b_row, first_column, columns);
    } else {
      micro_tile<Step, R, 2, false>(t, begin, b, b_row, first_column, columns);
    }
  } else {
    if (whole) {
      micro_tile<Step, R, 1, true>(t, begin, b, b_row, first_column, columns);
    } else {
      micro_tile<Step, R, 1, false>(t, begin, b, b_row, first_column, columns);
    }
  }
}

template <class Step, int R>
HWY_NOINLINE void last_rows(const GemmTile& t, Index begin, const float* b, Index b_row, bool whole, Index first_column,
                            Index columns) {
  if constexpr (R > 0) {
    if (t.m - begin == R) return row_block<Step, R>(t, begin, b, b_row, whole, first_column, columns);
    last_rows<Step, R - 1>(t, begin, b, b_row, whole, first_column, columns);
  }
}

// R rows of a, from `row` on, against kVectors whole vectors of b as it lies.
template <class Step, int R, int kVectors>
HWY_NOINLINE void wide_block(const GemmTile& t, Index row, Index first_column, LinesAhead* ahead) {
  const float* const b = t.b.data + first_column;
  if (ahead != nullptr && ahead->left >= t.k) {
    micro_tile<Step, R, kVectors, true, true>(t, row, b, t.b.row, first_column, kVectors * kLanes, ahead->next);
    ahead->next += t.k, ahead->left -= t.k;
  } else {
    micro_tile<Step, R, kVectors, true>(t, row, b, t.b.row, first_column, kVectors * kLanes);
  }
}

// The rows of a in blocks of nearly the same height, at most kMost: a low last one would leave units idle.
template <class Step, int kMost, int kVectors>
HWY_INLINE void wide_rows(const GemmTile& t, Index first_column, LinesAhead* ahead) {
  using Block = void (*)(const GemmTile&, Index, Index, LinesAhead*);
  static constexpr auto kBlocks = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array<Block, sizeof...(I)>{wide_block<Step, I + 1, kVectors>...};
  }
  (std::make_integer_sequence<int, kMost>());
  Index blocks = (t.m + kMost - 1) / kMost;
  for (Index row = 0; row < t.m; --blocks) {
    const Index height = (t.m - row + blocks - 1) / blocks;
    kBlocks[static_cast<std::size_t>(height - 1)](t, row, first_column, ahead);
    row += height;
  }
}

// Transposes kLanes rows of kLanes floats, in registers.
HWY_INLINE void transpose_block([[maybe_unused]] Vector (&rows)[kLanes]) {
#if HWY_TARGET != HWY_SCALAR
  const Floats d;
  const hn::RepartitionToWide<Floats> pairs;
  // Within blocks of four lanes: rows[4g + j] becomes, in its block e, column 4e + j of rows 4g .. 4g + 3.
  for (Index g = 0; g < kLanes; g += 4) {
    const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, rows[g], rows[g + 1]));
    const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, rows[g + 2], rows[g + 3]));
    const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, rows[g], rows[g + 1]));
    const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, rows[g + 2], rows[g + 3]));
    rows[g] = hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23));
    rows[g + 1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23));
    rows[g + 2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23));
    rows[g + 3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23));
  }
  // Then the blocks are transposed among the vectors j, 4 + j, 8 + j, 12 + j.
  if constexpr (kLanes == 8) {
    for (Index j = 0; j < 4; ++j) {
      const Vector low = rows[j], high = rows[4 + j];
      rows[j] = hn::ConcatLowerLower(d, high, low);
      rows[4 + j] = hn::ConcatUpperUpper(d, high, low);
    }
  }
  if constexpr (kLanes == 16) {
    for (Index j = 0; j < 4; ++j) {
      const Vector r0 = rows[j], r1 = rows[4 + j], r2 = rows[8 + j], r3 = rows[12 + j];
      const Vector even01 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(r1), r0);  // blocks 0, 0, 2, 2 of r0, r1, r0, r1
      const Vector odd01 = hn::OddEvenBlocks(r1, hn::SwapAdjacentBlocks(r0));   // blocks 1, 1, 3, 3
      const Vector even23 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(r3), r2);
      const Vector odd23 = hn::OddEvenBlocks(r3, hn::SwapAdjacentBlocks(r2));
      rows[j] = hn::ConcatLowerLower(d, even23, even01);
      rows[4 + j] = hn::ConcatLowerLower(d, odd23, odd01);
      rows[8 + j] = hn::ConcatUpperUpper(d, even23, even01);
      rows[12 + j] = hn::ConcatUpperUpper(d, odd23, odd01);
    }
  }
#endif
}

// Copies `columns` columns of b to panel[p * kPanel + j], with zeros in the columns that are missing.
HWY_INLINE void pack_panel(const GemmTile& t, const float* HWY_RESTRICT b, Index columns, float* HWY_RESTRICT panel) {
  const Floats d;
  const Index width = columns > kLanes ? kPanel : kLanes;
  if (t.b.col == 1) {
    for (Index p = 0; p < t.k; ++p)
      for (Index j = 0; j < width; j += kLanes)
        hn::Store(load_first(b + p * t.b.row + j, columns - j), d, panel + p * kPanel + j);
    return;
  }
  for (Index j = 0; j < width; j += kLanes) {
    const Index present = std::min(columns - j, kLanes);
    const float* from = b + j * t.b.col;
    Index p = 0;
    if (t.b.row == 1) {
      for (; p + kLanes <= t.k; p += kLanes) {
        Vector rows[kLanes];
        for (Index r = 0; r < kLanes; ++r) rows[r] = r < present ? hn::LoadU(d, from + r * t.b.col + p) : hn::Zero(d);
        transpose_block(rows);
        for (Index r = 0; r < kLanes; ++r) hn::Store(rows[r], d, panel + (p + r) * kPanel + j);
      }
    }
    for (; p < t.k; ++p) {
      float* to = panel + p * kPanel + j;
      for (Index r = 0; r < present; ++r) to[r] = from[r * t.b.col + p * t.b.row];
      for (Index r = present; r < kLanes; ++r) to[r] = 0;
    }
  }
}

// Step has add(a, b, sum): a vector's next partial sums. `ahead`: see gemm_tile_ahead; null: nothing is asked for.
template <class Step>
HWY_INLINE void chain_tile(const GemmTile& t, LinesAhead* ahead = nullptr) {
  HWY_ALIGN float panel[kGemmTileDepth * kPanel];
  // Rows of b as they lie are good enough when few rows of a use them.
  const bool pack = t.b.col != 1 || t.m > 64;
  Index j = 0;
  if constexpr (kManyRegisters) {
    for (; !pack && j + 4 * kLanes <= t.n; j += 4 * kLanes) wide_rows<Step, 6, 4>(t, j, ahead);
    if (!pack && j + 3 * kLanes == t.n) return wide_rows<Step, 8, 3>(t, j, ahead);
    if (!pack && j + 2 * kLanes == t.n) return wide_rows<Step, 12, 2>(t, j, ahead);
    if (!pack && j + kLanes == t.n) return wide_rows<Step, 14, 1>(t, j, ahead);
  }
  for (; j < t.n; j += kPanel) {
    const Index columns = std::min(t.n - j, kPanel);
    const float* b = t.b.data + j * t.b.col;
    Index b_row = t.b.row;
    if (pack) {
      pack_panel(t, b, columns, panel);
      b = panel, b_row = kPanel;
    }
    const bool whole = pack || columns == kPanel || columns == kLanes;
    Index i = 0;
    for (; i + kRows <= t.m; i += kRows) row_block<Step, kRows>(t, i, b, b_row, whole, j, columns);
    last_rows<Step, kRows - 1>(t, i, b, b_row, whole, j, columns);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
