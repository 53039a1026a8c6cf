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

#include "heed/kernels/first_cache.h"
#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/gemm_ahead.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/turn-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of a tile that is two vectors wide, or of another's: as many accumulators as the register file holds beside two
// vectors of b and one of a.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kRows = 8;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif

// sum[i][v] takes the next `steps` of its chain: rows a[i * row + p * col] times vectors of columns b[p * b_row], the
// last of which may be short. With kWholeLoads, whole vectors of b may be read; with kAhead, one of `lines` is asked
// for at each p.
template <class Step, int R, int kVectors, bool kWholeLoads, bool kAhead = false>
HWY_INLINE void add_steps(const Matrix& a, const float* HWY_RESTRICT b, Index b_row, Index steps, Index columns,
                          const char* const* lines, Vector (&sum)[R][kVectors]) {
  const Floats d;
  // An address has a register and one, two or four times another: every third row has its own.
  constexpr int kNear = 3;
  const float* HWY_RESTRICT rows[(R + kNear - 1) / kNear];
  HWY_UNROLL(8)
  for (int i = 0; i < R; i += kNear) rows[i / kNear] = a.data + i * a.row;
  for (Index p = 0; p < steps; ++p) {
    if constexpr (kAhead) __builtin_prefetch(lines[p], 0, 2);  // into the second cache: the first one is full of tiles
    Vector column[kVectors];
    for (int v = 0; v < kVectors; ++v)
      column[v] = kWholeLoads || v < kVectors - 1 ? hn::LoadU(d, b + v * kLanes)
                                                  : load_first(b + v * kLanes, columns - v * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < R; ++i) {
      const Vector factor = hn::Set(d, rows[i / kNear][i % kNear * a.row]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = Step::add(factor, column[v], sum[i][v]);
    }
    HWY_UNROLL(8)
    for (int i = 0; i < R; i += kNear) rows[i / kNear] += a.col;
    b += b_row;
  }
}

// Calls f(i, v) for a tile's vectors in order, each by itself: in a loop the tile would have to lie in memory.
template <int R, int kVectors, class F>
HWY_INLINE void for_vectors(const F& f) {
  HWY_UNROLL(16)
  for (int i = 0; i < R; ++i) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) f(i, v);
  }
}

// What becomes of sums [rows, columns] that lie in memory, a row of them every `stride`, where there is a bias, scaled
// sums are added, or the last vector is a part of one.
HWY_NOINLINE inline void store_any_sums(const GemmTile& t, Index row, Index rows, Index first_column, Index columns,
                                        const float* HWY_RESTRICT sums, Index stride) {
  const Floats d;
  for (Index i = row; i < row + rows; ++i, sums += stride) {
    const Vector alpha = hn::Set(d, t.row_alpha != nullptr ? t.row_alpha[i] : t.alpha);
    for (Index j = 0; j < columns; j += kLanes) {
      float* to = t.c + i * t.c_row + first_column + j;
      const Index count = columns - j;
      Vector value = hn::Mul(hn::LoadU(d, sums + j), alpha);
      if (t.bias != nullptr) value = hn::Add(value, load_first(t.bias + first_column + j, count));
      if (t.accumulate && t.decay != nullptr) {
        value = hn::MulAdd(load_first(to, count), load_first(t.decay + first_column + j, count), value);
      } else if (t.accumulate) {
        value = hn::Add(value, load_first(to, count));
      }
      store_first(value, to, count);
    }
  }
}

// Where the sums of some rows go, with all that becomes of them. What is told here is read once for many rows: read
// again after a store, it would wait wherever its address looks like that of the store.
struct Out {
  Out(const GemmTile& tile, Index first_row, Index column)
      : whole(tile),
        row(first_row),
        first_column(column),
        c(tile.c + first_row * tile.c_row + column),
        c_row(tile.c_row),
        alpha(tile.row_alpha != nullptr ? tile.row_alpha + first_row : &tile.alpha),
        next_alpha(tile.row_alpha != nullptr ? 1 : 0),
        decay(tile.decay != nullptr ? tile.decay + column : nullptr),
        accumulate(tile.accumulate),
        rare(tile.bias != nullptr || (tile.accumulate && (tile.alpha != 1 || tile.row_alpha != nullptr))) {}
  HWY_INLINE void go_on(Index rows) { row += rows, c += rows * c_row, alpha += rows * next_alpha; }

  const GemmTile& whole;
  Index row, first_column;
  float* c;
  Index c_row;
  const float* alpha;
  Index next_alpha;
  const float* decay;
  bool accumulate;
  bool rare;  // a bias, or scaled sums that are added
};

// What becomes of the sums of R rows, once their chains are whole.
template <int R, int kVectors>
HWY_INLINE void store_sums(const Out& out, Index columns, const Vector (&sum)[R][kVectors]) {
  const Floats d;
  if (columns < kVectors * kLanes || out.rare) {
    HWY_ALIGN float sums[R * kVectors * kLanes];
    for_vectors<R, kVectors>([&](int i, int v)
                                 HWY_ATTR { hn::Store(sum[i][v], d, sums + (i * kVectors + v) * kLanes); });
    return store_any_sums(out.whole, out.row, R, out.first_column, columns, sums, kVectors * kLanes);
  }
  const Index c_row = out.c_row;
  float* HWY_RESTRICT const c = out.c;
  const auto at = [&](int i, int v) HWY_ATTR { return c + i * c_row + v * kLanes; };
  if (!out.accumulate) {
    for_vectors<R, kVectors>([&](int i, int v) HWY_ATTR {
      hn::StoreU(hn::Mul(sum[i][v], hn::Set(d, out.alpha[i * out.next_alpha])), d, at(i, v));
    });
  } else if (out.decay == nullptr) {
    for_vectors<R, kVectors>([&](int i, int v)
                                 HWY_ATTR { hn::StoreU(hn::Add(sum[i][v], hn::LoadU(d, at(i, v))), d, at(i, v)); });
  } else {
    const float* decay = out.decay;
    for_vectors<R, kVectors>([&](int i, int v) HWY_ATTR {
      hn::StoreU(hn::MulAdd(hn::LoadU(d, at(i, v)), hn::LoadU(d, decay + v * kLanes), sum[i][v]), d, at(i, v));
    });
  }
}

// Some steps of the chains of some columns, which lie side by side for each step.
struct Panel {
  const float* data;
  Index row;                 // floats from one step to the next
  Index column, columns;     // of c
  Index first, last;         // steps
  bool whole_loads;          // whether whole vectors may be read, though the last one is short
  float* waiting = nullptr;  // [rows, kPanelColumns]: sums before `first` and then before `last`, if there are others
  LinesAhead* ahead = nullptr;  // null: nothing is asked for
};
// A panel is no wider. The fewer its vectors, the higher are the blocks that registers hold.
constexpr int kPanelVectors = kManyRegisters ? 4 : 2;
constexpr Index kPanelColumns = kPanelVectors * kLanes;

// `blocks` blocks of R rows of a, from `row` on, of which the first is the nth row that the panel meets, against its
// kVectors vectors. One block follows another in one function, with what it is told in registers: between the last step
// of one and the first of the next there are few instructions, for which the units would wait.
template <class Step, int R, int kVectors, bool kWholeLoads>
HWY_NOINLINE void panel_blocks(const GemmTile& tile, const Panel& panel, Index row, Index nth, Index blocks) {
  const Floats d;
  const Panel b = panel;
  const Index steps = b.last - b.first;
  const bool whole = b.last == tile.k;
  Matrix a = tile.a.from(row, b.first);
  Out out(tile, row, b.column);
  const auto waiting = [&](int i, int v) HWY_ATTR { return b.waiting + (nth + i) * kPanelColumns + v * kLanes; };
  for (; blocks > 0; --blocks) {
    Vector sum[R][kVectors];
    if (b.first == 0) {
      for_vectors<R, kVectors>([&](int i, int v) HWY_ATTR { sum[i][v] = hn::Zero(d); });
    } else {
      for_vectors<R, kVectors>([&](int i, int v) HWY_ATTR { sum[i][v] = hn::LoadU(d, waiting(i, v)); });
    }
    if (b.ahead != nullptr && b.ahead->left >= steps) {
      add_steps<Step, R, kVectors, kWholeLoads, true>(a, b.data, b.row, steps, b.columns, b.ahead->next, sum);
      b.ahead->next += steps, b.ahead->left -= steps;
    } else {
      add_steps<Step, R, kVectors, kWholeLoads>(a, b.data, b.row, steps, b.columns, nullptr, sum);
    }
    if (whole) {
      store_sums(out, b.columns, sum);
    } else {
      for_vectors<R, kVectors>([&](int i, int v) HWY_ATTR { hn::StoreU(sum[i][v], d, waiting(i, v)); });
    }
    a.data += R * a.row, nth += R;
    out.go_on(R);
  }
}

// The rows [begin, end) of a in blocks of nearly the same height: a low last one would leave units idle.
template <class Step, bool kWholeLoads, int kMost, int kVectors>
HWY_INLINE void blocks_of_rows(const GemmTile& t, const Panel& b, Index begin, Index end) {
  using Blocks = void (*)(const GemmTile&, const Panel&, Index, Index, Index);
  static constexpr auto kBlocks = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array<Blocks, sizeof...(I) + 1>{nullptr, panel_blocks<Step, I + 1, kVectors, kWholeLoads>...};
  }
  (std::make_integer_sequence<int, kMost>());
  if (begin == end) return;
  const Index rows = end - begin, blocks = ceil_div(rows, kMost), height = ceil_div(rows, blocks);
  const Index lower = blocks * height - rows;  // of them have a row less
  kBlocks[static_cast<std::size_t>(height)](t, b, begin, 0, blocks - lower);
  if (lower == 0) return;
  const Index nth = (blocks - lower) * height;
  kBlocks[static_cast<std::size_t>(height - 1)](t, b, begin + nth, nth, lower);
}

template <class Step, bool kWholeLoads>
HWY_INLINE void panel_rows_of(const GemmTile& t, const Panel& b, Index begin, Index end) {
  if constexpr (kManyRegisters) {
    if (b.columns > 3 * kLanes) return blocks_of_rows<Step, kWholeLoads, 6, 4>(t, b, begin, end);
    if (b.columns > 2 * kLanes) return blocks_of_rows<Step, kWholeLoads, 8, 3>(t, b, begin, end);
    if (b.columns > kLanes) return blocks_of_rows<Step, kWholeLoads, 12, 2>(t, b, begin, end);
    return blocks_of_rows<Step, kWholeLoads, 14, 1>(t, b, begin, end);
  } else {
    if (b.columns > kLanes) return blocks_of_rows<Step, kWholeLoads, kRows, 2>(t, b, begin, end);
    return blocks_of_rows<Step, kWholeLoads, kRows, 1>(t, b, begin, end);
  }
}

template <class Step>
HWY_INLINE void panel_rows(const GemmTile& t, const Panel& b, Index begin, Index end) {
  b.whole_loads ? panel_rows_of<Step, true>(t, b, begin, end) : panel_rows_of<Step, false>(t, b, begin, end);
}

// Where b is turned or read for many rows, some of its columns are copied side by side for some steps of the chains at
// a time: as much as stays in the first cache while all rows of a go by. Sums wait in memory from one copy to the next,
// which changes no bit of them.
constexpr Index kMostPacked = 9216;  // floats
constexpr Index kWaitingRows = 512;

// Of a chain of k steps, cut into parts of one length: three quarters of the first cache at most.
inline Index packed_steps(Index k) {
  const Index floats = std::min(first_cache_bytes() * 3 / 4 / Index{sizeof(float)}, kMostPacked);
  return ceil_div(k, std::max(ceil_div(k, floats / kPanelColumns), Index{1}));
}

// packed[p * kPanelColumns + j] = b[first + p, column + j], with zeros in the columns of the last vector that are
// missing.
HWY_INLINE void pack_columns(const Matrix& whole, Index first, Index column, Index steps, Index columns,
                             float* HWY_RESTRICT packed) {
  const Floats d;
  const Matrix b = whole.from(first, column);
  if (b.col == 1) {
    for (Index p = 0; p < steps; ++p)
      for (Index j = 0; j < columns; j += kLanes)
        hn::Store(load_first(b.data + p * b.row + j, columns - j), d, packed + p * kPanelColumns + j);
    return;
  }
  for (Index j = 0; j < columns; j += kLanes) {
    const Index present = std::min(columns - j, kLanes);
    const float* from = b.data + j * b.col;
    Index p = 0;
    if (b.row == 1) {
      for (; p + kLanes <= steps; p += kLanes) {
        turn<false, Ask::nothing>({present, kLanes}, from + p, b.col, nullptr, {kLanes, kLanes},
                                  packed + p * kPanelColumns + j, kPanelColumns);
      }
    }
    for (; p < steps; ++p) {
      float* to = packed + p * kPanelColumns + j;
      for (Index r = 0; r < present; ++r) to[r] = from[r * b.col + p * b.row];
      for (Index r = present; r < kLanes; ++r) to[r] = 0;
    }
  }
}

template <class Step>
HWY_NOINLINE void packed_tile(const GemmTile& t) {
  HWY_ALIGN float packed[kMostPacked], waiting[kWaitingRows * kPanelColumns];
  const Index steps = packed_steps(t.k);
  for (Index begin = 0; begin < t.m; begin += kWaitingRows) {
    for (Index column = 0; column < t.n; column += kPanelColumns) {
      const Index columns = std::min(t.n - column, kPanelColumns);
      Index first = 0;
      do {
        const Index last = std::min(first + steps, t.k);
        pack_columns(t.b, first, column, last - first, columns, packed);
        const Panel panel{.data = packed,
                          .row = kPanelColumns,
                          .column = column,
                          .columns = columns,
                          .first = first,
                          .last = last,
                          .whole_loads = true,
                          .waiting = waiting};
        panel_rows<Step>(t, panel, begin, std::min(begin + kWaitingRows, t.m));
        first = last;
      } while (first < t.k);
    }
  }
}

// Step has add(a, b, sum): a vector's next partial sums. `ahead`: see gemm_tile_ahead; null: nothing is asked for.
template <class Step>
HWY_INLINE void chain_tile(const GemmTile& t, LinesAhead* ahead = nullptr) {
  // Rows of b as they lie are good enough when few rows of a use them, or where they lie close together.
  constexpr Index kFewRowsOfA = 64, kCloseFloats = 8192;
  if (t.b.col != 1 || (t.m > kFewRowsOfA && t.b.row * t.k > kCloseFloats)) return packed_tile<Step>(t);
  for (Index j = 0; j < t.n; j += kPanelColumns) {
    const Index columns = std::min(t.n - j, kPanelColumns);
    const Panel panel{.data = t.b.data + j,
                      .row = t.b.row,
                      .column = j,
                      .columns = columns,
                      .first = 0,
                      .last = t.k,
                      .whole_loads = columns % kLanes == 0,
                      .ahead = ahead};
    panel_rows<Step>(t, panel, 0, t.m);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
