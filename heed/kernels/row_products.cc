#include <algorithm>
#include <cstdint>
#include <cstring>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/lines_below.h"
#include "heed/kernels/sized_vectors.h"
#include "heed/kernels/stored_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/row_products.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/stored_numbers-inl.h"
#include "heed/kernels/turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// How many words of a row are turned into lanes together.
#if HWY_TARGET == HWY_SCALAR
constexpr Index kTurned = 1;
#else
constexpr Index kTurned = 4;
#endif
constexpr Index kTurnedBytes = kTurned * kWordBytes;

// The words of one row, in each block of kTurned lanes; what `bytes` do not reach means nothing.
HWY_INLINE Vector load_words(const char* from, Index bytes) {
  const Floats d;
  if (HWY_LIKELY(bytes >= kTurnedBytes))
    return hn::LoadDup128(d, static_cast<const float*>(static_cast<const void*>(from)));
  HWY_ALIGN float buffer[kTurned] = {};
  std::memcpy(buffer, from, static_cast<std::size_t>(bytes));
  return hn::LoadDup128(d, buffer);
}

#if HWY_TARGET != HWY_SCALAR
// Rows j, 4 + j, 8 + j and 12 + j, each in a block of its own: row_at(r) is where row r begins.
template <class F>
HWY_INLINE Vector gather_blocks(const F& row_at, Index j, Index bytes) {
  [[maybe_unused]] const Floats d;
  Vector words = load_words(row_at(j), bytes);
  if constexpr (kLanes == 8) words = hn::ConcatUpperLower(d, load_words(row_at(4 + j), bytes), words);
  if constexpr (kLanes == 16) {
    for (Index block = 1; block < 4; ++block) {
      const auto from_here = hn::Not(hn::FirstN(d, static_cast<std::size_t>(4 * block)));
      words = hn::IfThenElse(from_here, load_words(row_at(4 * block + j), bytes), words);
    }
  }
  return words;
}

// turned[w] has, in each block of four lanes, word w of the same block of four vectors.
HWY_INLINE void turn_blocks(Vector row0, Vector row1, Vector row2, Vector row3, Vector* turned) {
  const Floats d;
  const hn::RepartitionToWide<Floats> pairs;
  const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  turned[0] = hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23));
  turned[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23));
  turned[2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23));
  turned[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23));
}
#endif

// turned[w] has word w of row r in lane r.
template <class F>
HWY_INLINE void turn_words(const F& row_at, Index bytes, Vector (&turned)[kTurned]) {
#if HWY_TARGET == HWY_SCALAR
  turned[0] = load_words(row_at(0), bytes);
#else
  turn_blocks(gather_blocks(row_at, 0, bytes), gather_blocks(row_at, 1, bytes), gather_blocks(row_at, 2, bytes),
              gather_blocks(row_at, 3, bytes), turned);
#endif
}

// The products of a word of each lane, with its numbers p, p + 1, ... of R rows of q, [numbers, R], are added to sums.
// Only `numbers` of them are there where they are not `kWhole`.
template <class Row, int R, bool kWhole>
HWY_INLINE void add_word(const float* HWY_RESTRICT q, Vector lanes, Index p, Index numbers, Vector scale,
                         Vector (&sums)[R]) {
  const Floats d;
  const WordVector word = hn::BitCast(Words(), lanes);
  const auto add = [&](Vector column, Index at) HWY_ATTR {
    HWY_UNROLL(8)
    for (int n = 0; n < R; ++n) sums[n] = hn::MulAdd(hn::Set(d, q[at * R + n]), column, sums[n]);
  };
  if (kWhole || p < numbers) add(Row::template of_words<0>(word, scale), p);
  if constexpr (Row::kInWord > 1) {
    if (kWhole || p + 1 < numbers) add(Row::template of_words<1>(word, scale), p + 1);
  }
  if constexpr (Row::kInWord > 2) {
    if (kWhole || p + 2 < numbers) add(Row::template of_words<2>(word, scale), p + 2);
    if (kWhole || p + 3 < numbers) add(Row::template of_words<3>(word, scale), p + 3);
  }
}

// The same of kTurned words of kLanes rows, one to a lane.
template <class Row, int R, bool kWhole, class F>
HWY_INLINE void add_turned(const float* HWY_RESTRICT q, const F& row_at, Index numbers, Vector scale,
                           Vector (&sums)[R]) {
  Vector turned[kTurned];
  turn_words(row_at, kWhole ? kTurnedBytes : numbers * Index{sizeof(typename Row::Number)}, turned);
  HWY_UNROLL(4)
  for (Index w = 0; w < kTurned; ++w) add_word<Row, R, kWhole>(q, turned[w], w * Row::kInWord, numbers, scale, sums);
}

#if HWY_TARGET != HWY_SCALAR
// x[2 n] and x[2 n + 1] become the even words of both and the odd ones.
HWY_INLINE void part_words(Vector (&x)[8]) {
  const Floats d;
  Vector from[8];
  HWY_UNROLL(8)
  for (int n = 0; n < 8; ++n) from[n] = x[n];
  HWY_UNROLL(4)
  for (int n = 0; n < 4; ++n) {
    x[n] = hn::ConcatEven(d, from[2 * n + 1], from[2 * n]);
    x[4 + n] = hn::ConcatOdd(d, from[2 * n + 1], from[2 * n]);
  }
}

// turned[w] has word w of row r in lane r, of sixteen rows and eight words: two rows are read into the halves of one
// vector, and parting even from odd words three times leaves one word of each.
HWY_INLINE void turn_half_line(const char* rows, Index row_bytes, Vector (&turned)[8]) {
  const hn::Half<Floats> half;
  const auto row_at = [&](Index r) HWY_ATTR {
    return hn::LoadU(half, static_cast<const float*>(static_cast<const void*>(rows + r * row_bytes)));
  };
  HWY_UNROLL(8)
  for (Index n = 0; n < 8; ++n) turned[n] = hn::Combine(Floats(), row_at(2 * n + 1), row_at(2 * n));
  part_words(turned);
  part_words(turned);
  part_words(turned);
}
#endif

// Whether a vector has a line.
constexpr bool kTurnsLines = kManyRegisters && kLanes * kWordBytes == kLineBytes;

// How much of a line is turned at a time where a vector has one: half of it, so that registers hold it beside the sums,
// or all of it, where rows push each other out of the first cache and no line of them should be read twice.
enum class LinePart { half, whole };

// And of a line of kGroups times kLanes rows, each group with chains of its own. Meanwhile ask(parts) asks for as many
// lines as are read, and where halves of lines are turned those that come next are asked for, from `again` on, unless
// that is null.
template <class Row, int R, int kGroups, LinePart kPart, class Ask>
HWY_INLINE void add_line(const float* HWY_RESTRICT q, const char* rows, Index row_bytes, const Vector (&scale)[kGroups],
                         Vector (&sums)[kGroups][R], const Ask& ask, const char* again) {
  if constexpr (kTurnsLines && kPart == LinePart::whole) {
    static_assert(kGroups == 1);
    Vector turned[kLanes];
    HWY_UNROLL(16)
    for (Index r = 0; r < kLanes; ++r) {
      turned[r] = hn::LoadU(Floats(), static_cast<const float*>(static_cast<const void*>(rows + r * row_bytes)));
    }
    transpose_block(turned);
    HWY_UNROLL(16)
    for (Index w = 0; w < kLanes; ++w) {
      ask(1);
      add_word<Row, R, true>(q, turned[w], w * Row::kInWord, 0, scale[0], sums[0]);
    }
  } else if constexpr (kTurnsLines) {
    HWY_UNROLL(2)
    for (Index part = 0; part < 2; ++part, rows += kLineBytes / 2) {
      Vector turned[kGroups][8];
      HWY_UNROLL(2)
      for (Index g = 0; g < kGroups; ++g) turn_half_line(rows + g * kLanes * row_bytes, row_bytes, turned[g]);
      HWY_UNROLL(8)
      for (Index w = 0; w < 8; ++w) {
        const Index p = (8 * part + w) * Row::kInWord;
        if (w % 2 == 0) ask(2 * kGroups);
        if (again != nullptr) ask_lines(again + (8 * part + w) * kGroups * row_bytes, row_bytes, kGroups, true);
        HWY_UNROLL(2)
        for (Index g = 0; g < kGroups; ++g) add_word<Row, R, true>(q, turned[g][w], p, 0, scale[g], sums[g]);
      }
    }
  } else {
    static_assert(kGroups == 1);
    for (Index at = 0; at < kLineBytes; at += kTurnedBytes, q += kTurned * Row::kInWord * R) {
      const auto row_at = [&](Index r) HWY_ATTR { return rows + r * row_bytes + at; };
      ask(kLanes * kTurnedBytes / kLineBytes);
      add_turned<Row, R, true>(q, row_at, 0, scale[0], sums[0]);
    }
  }
}

// The same for `numbers` numbers of `present` rows, at most kLanes, that fill no line or not all lanes: those that are
// left repeat the last row. Few rows have such, so one function has them all.
template <class Row, int R>
HWY_NOINLINE void add_rest(const float* HWY_RESTRICT q, const char* HWY_RESTRICT rows, Index row_bytes, Index present,
                           Index numbers, Vector scale, Vector (&all_sums)[R]) {
  constexpr Index kStep = kTurned * Row::kInWord;
  Vector sums[R];
  for (int n = 0; n < R; ++n) sums[n] = all_sums[n];
  for (; numbers > 0; numbers -= kStep, rows += kTurnedBytes, q += kStep * R) {
    const auto row_at = [&](Index r) HWY_ATTR { return rows + std::min(r, present - 1) * row_bytes; };
    numbers >= kStep ? add_turned<Row, R, true>(q, row_at, kStep, scale, sums)
                     : add_turned<Row, R, false>(q, row_at, numbers, scale, sums);
  }
  for (int n = 0; n < R; ++n) all_sums[n] = sums[n];
}

// The products of kGroups times kLanes rows from `first` on, or of fewer where they are the last and kGroups is one.
template <class Row, int R, int kGroups, LinePart kPart>
HWY_NOINLINE void group_products(const float* q, const StoredRows& stored, Index first, float alpha,
                                 LinesBelow<kGroups * kLanes>& below, FewRows<float> result) {
  const Floats d;
  constexpr Index kSize = sizeof(typename Row::Number), kInLine = kLineBytes / kSize;
  static_assert(kGemmTileDepth % kInLine == 0);
  const Index present = std::min(stored.count - first, kGroups * kLanes), row_bytes = stored.row * kSize;
  Vector scale[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    scale[g] = hn::Zero(d);
    if constexpr (Row::kScaled) {
      HWY_ALIGN float lanes[kLanes] = {};
      const float* from = stored.scales + (first + g * kLanes) * stored.scale_row;
      for (Index r = 0; r < std::min(present, kLanes); ++r) lanes[r] = from[r * stored.scale_row];
      scale[g] = hn::Load(d, lanes);
    }
  }
  const char* rows = static_cast<const char*>(stored.data) + first * row_bytes;
  for (Index from = 0; from < stored.width; from += kGemmTileDepth) {
    Vector sums[kGroups][R];
    for (auto& group : sums)
      for (Vector& sum : group) sum = hn::Zero(d);
    const Index end = std::min(stored.width, from + kGemmTileDepth);
    Index at = from;
    if (present == kGroups * kLanes) {
      for (; at + kInLine <= end; at += kInLine) {
        const Index line = at / kInLine;
        below.ask_beside(first, line);
        add_line<Row, R, kGroups, kPart>(
            q + at * R, rows + at * kSize, row_bytes, scale, sums, [&](Index parts) { below.ask_beside_parts(parts); },
            below.again(first, line));
      }
    }
    if (at < end) {
      for (int g = 0; g < kGroups; ++g)
        add_rest<Row, R>(q + at * R, rows + g * kLanes * row_bytes + at * kSize, row_bytes, std::min(present, kLanes),
                         end - at, scale[g], sums[g]);
    }
    for (int g = 0; g < kGroups; ++g) {
      for (int n = 0; n < R; ++n) {
        float* to = result.data + n * result.row + first + g * kLanes;
        if (from == 0) {
          store_first(hn::Mul(sums[g][n], hn::Set(d, alpha)), to, present);
          continue;
        }
        // Rounded before it is added: of a product and a sum a compiler may make one step, of this it does not.
        const Vector scaled = hn::MulAdd(sums[g][n], hn::Set(d, alpha), hn::Set(d, -0.0f));
        store_first(hn::Add(scaled, load_first(to, present)), to, present);
      }
    }
  }
}

// The rows from `first` on. Those that are left are asked for as one group reads them.
template <class Row, int R, int kGroups, LinePart kPart>
HWY_INLINE void products_by_groups(const float* q, const StoredRows& stored, Index first, float alpha,
                                   FewRows<float> result) {
  constexpr Index kSize = sizeof(typename Row::Number), kTogether = kGroups * kLanes;
  LinesBelow<kTogether> below(stored, stored.row * kSize, stored.width * kSize);
  for (; first + (kGroups > 1 ? kTogether : 1) <= stored.count; first += kTogether)
    group_products<Row, R, kGroups, kPart>(q, stored, first, alpha, below, result);
  if constexpr (kGroups > 1) products_by_groups<Row, R, 1, kPart>(q, stored, first, alpha, result);
}

template <class Row, int R>
HWY_INLINE void products(const float* q, const StoredRows& stored, float alpha, FewRows<float> result) {
  if constexpr (kTurnsLines) {
    const bool share_set = stored.row * Index{sizeof(typename Row::Number)} % kSetBytes == 0;
    if (share_set) return products_by_groups<Row, R, 1, LinePart::whole>(q, stored, 0, alpha, result);
  }
  constexpr int kGroups = kTurnsLines ? 2 : 1;  // few rows of q alone would wait for their sums
  products_by_groups<Row, R, kGroups, LinePart::half>(q, stored, 0, alpha, result);
}

void row_products_kernel(Index rows, const float* q, const StoredRows& stored, float alpha, FewRows<float> result) {
  with_type_and_rows(stored.dtype, rows,
                     [&](auto row, auto r) HWY_ATTR { products<decltype(row), r()>(q, stored, alpha, result); });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(row_products_kernel);

void row_products(Index rows, const float* q, const StoredRows& stored, float alpha, FewRows<float> products) {
  HEED_DISPATCH(row_products_kernel)(rows, q, stored, alpha, products);
}

}  // namespace heed::kernels
#endif
