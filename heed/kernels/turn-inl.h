// Blocks of floats are transposed: rows of queries become lanes, and columns of a factor lie side by side.
#if defined(HEED_KERNELS_TURN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_TURN_INL_H_
#undef HEED_KERNELS_TURN_INL_H_
#else
#define HEED_KERNELS_TURN_INL_H_
#endif

#include <array>

#include "heed/kernels/float_vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

// What to ask for beside a block of rows that is turned: the lines that begin below it, whether or not they belong to
// the call, where rows are read, or written, a block of columns at a time: an order that no processor guesses.
enum class Ask { nothing, to_read, to_write };

template <Ask kAsk>
HWY_INLINE void ask_below(const float* from, Index from_row, const float* to, Index to_row) {
  if constexpr (kAsk == Ask::nothing) return;
  const float* row = kAsk == Ask::to_read ? from + kLanes * from_row : to + kLanes * to_row;
  HWY_UNROLL(16)
  for (Index r = 0; r < kLanes; ++r, row += kAsk == Ask::to_read ? from_row : to_row) {
    __builtin_prefetch(row, kAsk == Ask::to_write);
  }
}

struct Extent {
  Index rows, columns;  // kLanes each, at most

  bool is_whole() const { return rows == kLanes && columns == kLanes; }
};
constexpr std::array<float, kLanes> kNoRow{};

// turn() of a whole block, or of a part. A function of its own, and for a whole block without a branch: a compiler that
// sees the loop around it carries an address for each of its rows along, most of them in memory, and one that sees a
// branch in it keeps the block there; either doubles the time. (What only asks must not be one: GCC 12 takes it for one
// without effect, and leaves its calls out.)
template <bool kWhole, bool kScales, Ask kAsk>
HWY_NOINLINE void turn_block(const Extent& in, const float* from, Index from_row, const float* factor,
                             const Extent& out, float* to, Index to_row) {
  ask_below<kAsk>(from, from_row, to, to_row);
  const Floats d;
  const Vector scale = kScales ? hn::LoadU(d, factor) : hn::Zero(d);
  Vector block[kLanes];
  HWY_UNROLL(16)
  for (Index r = 0; r < kLanes; ++r, from += from_row) {
    block[r] = kWhole ? hn::LoadU(d, from) : load_first(r < in.rows ? from : kNoRow.data(), in.columns);
    if constexpr (kScales) block[r] = hn::Mul(block[r], scale);
  }
  transpose_block(block);
  HWY_UNROLL(16)
  for (Index r = 0; r < kLanes; ++r, to += to_row) {
    if constexpr (kWhole) {
      hn::StoreU(block[r], d, to);
    } else if (r < out.rows) {
      store_first(block[r], to, out.columns);
    }
  }
}

// Transposes a block from memory to memory, times a factor for each column where it kScales. Of what is read, `in` is
// there, and zeros for the rest; of what is written, `out` is wanted.
template <bool kScales, Ask kAsk>
HWY_INLINE void turn(const Extent& in, const float* from, Index from_row, const float* factor, const Extent& out,
                     float* to, Index to_row) {
  if (in.is_whole() && out.is_whole()) {
    turn_block<true, kScales, kAsk>(in, from, from_row, factor, out, to, to_row);
  } else {
    turn_block<false, kScales, kAsk>(in, from, from_row, factor, out, to, to_row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
