// Philox4x32-10 of base/random.h with a row to each lane, 8 keys to a block of it. The counter of row i and keys 8 g to
// 8 g + 7 is (g, i, the stream's two words): in the first rounds most words are the same for all rows, and what is not
// does not depend on g yet. So of twenty products fifteen are left to each block.
#include "heed/kernels/lane_dropout.h"

#include <algorithm>

#include "heed/base/random.h"
#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/lane_dropout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint32_t, kLaneUnit>;
using Word = hn::Vec<Words>;

constexpr Index kEight = 8;                   // keys of a block of Philox
constexpr Index kEightsOfWord = 32 / kEight;  // of a word of `kept`

#if HWY_TARGET == HWY_SCALAR

// A row's 16 bits for 8 keys, two to a word.
class RowDraws {
 public:
  RowDraws(std::uint64_t seed, std::uint64_t stream, std::uint32_t first_eight)
      : seed_(seed), stream_(stream), first_eight_(first_eight) {}
  void turn_to(std::uint32_t row) { row_ = row; }
  void draw(Index eight, Word (&words)[4]) const {
    const std::uint64_t counter = (std::uint64_t{row_} << 32) + first_eight_ + static_cast<std::uint64_t>(eight);
    const PhiloxBlock block = philox(seed_, stream_, counter);
    for (std::size_t w = 0; w < 4; ++w) words[w] = hn::Set(Words(), block[w]);
  }

 private:
  std::uint64_t seed_, stream_;
  std::uint32_t first_eight_, row_ = 0;
};

#else

constexpr Index kEights = kLaneKeys / kEight;  // of a block of keys

constexpr std::uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr int kRounds = 10, kRoundsWithShared = 3;

HWY_INLINE std::uint32_t low(std::uint64_t product) { return static_cast<std::uint32_t>(product); }
HWY_INLINE std::uint32_t high(std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32); }

// Of every second row: a word is the lower half of 64 bits, whose upper half is rubbish that no product reads.
HWY_INLINE Word product(Word x, std::uint32_t multiplier) {
  const Words d;
  return hn::BitCast(d, hn::MulEven(x, hn::Set(d, multiplier)));
}
HWY_INLINE Word high(Word product) { return hn::DupOdd(product); }
HWY_INLINE Word xor3(Word a, Word b, std::uint32_t c) { return hn::Xor3(a, b, hn::Set(Words(), c)); }

// The 16 bits of some rows for 8 keys after 8 keys, two to a word.
class RowDraws {
 public:
  RowDraws(std::uint64_t seed, std::uint64_t stream, std::uint32_t first_eight) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      key0_[round] = low(seed) + round * 0x9E3779B9u, key1_[round] = high(seed) + round * 0xBB67AE85u;
    }
    // Three rounds of what all rows share.
    const std::uint64_t of_stream = std::uint64_t{low(stream)} * kMultiplier1;
    before_row_ = high(of_stream) ^ key0_[0];
    for (Index n = 0; n < kEights; ++n) {
      Shared& shared = shared_[n];
      const std::uint64_t of_keys = (first_eight + static_cast<std::uint64_t>(n)) * kMultiplier0;
      const std::uint64_t second = std::uint64_t{high(of_keys) ^ high(stream) ^ key1_[0]} * kMultiplier1;
      const std::uint64_t third = std::uint64_t{high(second) ^ low(of_stream) ^ key0_[1]} * kMultiplier0;
      shared.into2 = low(of_keys) ^ key1_[1];
      shared.into0 = low(second) ^ key0_[2];
      shared.next2 = high(third) ^ key1_[2];
      shared.next3 = low(third);
    }
  }

  // To the rows from `row` on.
  HWY_INLINE void turn_to(std::uint32_t row) {
    const Words d;
    const Word c0 = hn::Xor(hn::Iota(d, row), hn::Set(d, before_row_));
    of_row_[0] = product(c0, kMultiplier0), of_row_[1] = product(hn::DupOdd(c0), kMultiplier0);
  }

  HWY_INLINE void draw(Index eight, Word (&words)[4]) const {
    Word even[4], odd[4];
    begin(eight, of_row_[0], even), begin(eight, of_row_[1], odd);
    HWY_UNROLL(7)
    for (int nth = kRoundsWithShared; nth < kRounds; ++nth) round(nth, even), round(nth, odd);
    for (int w = 0; w < 4; ++w) words[w] = hn::OddEven(hn::DupEven(odd[w]), even[w]);
  }

 private:
  struct Shared {
    std::uint32_t into0, into2, next2, next3;
  };

  HWY_INLINE void begin(Index eight, Word of_row, Word (&c)[4]) const {
    const Words d;
    const Shared& shared = shared_[eight];
    const Word of_both = product(hn::Xor(high(of_row), hn::Set(d, shared.into2)), kMultiplier1);
    c[0] = hn::Xor(high(of_both), hn::Set(d, shared.into0));
    c[1] = of_both;
    c[2] = hn::Xor(of_row, hn::Set(d, shared.next2));
    c[3] = hn::Set(d, shared.next3);
  }
  HWY_INLINE void round(int nth, Word (&c)[4]) const {
    const Word product0 = product(c[0], kMultiplier0), product1 = product(c[2], kMultiplier1);
    c[0] = xor3(high(product1), c[1], key0_[nth]), c[1] = product1;
    c[2] = xor3(high(product0), c[3], key1_[nth]), c[3] = product0;
  }

  std::uint32_t key0_[kRounds], key1_[kRounds], before_row_;
  Shared shared_[kEights];
  Word of_row_[2];  // the second round's first product, of even rows and of odd ones
};

#endif

void dropout_kernel(std::uint64_t seed, std::uint64_t stream, Index first_row, Index lanes, Index first_key, Index keys,
                    std::uint32_t threshold, std::uint32_t* HWY_RESTRICT kept) {
  const Words d;
  const hn::RebindToSigned<Words> ds;  // what is compared has 16 bits
  const auto bound = hn::Set(ds, static_cast<std::int32_t>(threshold));
  const auto kept_bit = [&](Word half, std::uint32_t bit) HWY_ATTR {
    const auto dropped = hn::Lt(hn::BitCast(ds, half), bound);
    return hn::BitCast(d, hn::IfThenZeroElse(dropped, hn::Set(ds, static_cast<std::int32_t>(bit))));
  };
  RowDraws draws(seed, stream, static_cast<std::uint32_t>(first_key / kEight));
  for (Index row = 0; row < lanes; row += static_cast<Index>(hn::Lanes(d))) {
    draws.turn_to(static_cast<std::uint32_t>(first_row + row));
    for (Index word = 0; word < kLaneKeys / 32; ++word) {
      const Index eights = std::clamp<Index>((keys - word * 32 + kEight - 1) / kEight, 0, kEightsOfWord);
      Word bits = hn::Zero(d);
      for (Index eight = 0; eight < eights; ++eight) {
        Word drawn[4];
        draws.draw(word * kEightsOfWord + eight, drawn);
        Word of_eight = hn::Zero(d);
        HWY_UNROLL(4)
        for (std::uint32_t pair = 0; pair < 4; ++pair) {
          const std::uint32_t bit = std::uint32_t{1} << (24 + 2 * pair);
          of_eight = hn::Or(of_eight, kept_bit(hn::And(drawn[pair], hn::Set(d, 0xFFFFu)), bit));
          of_eight = hn::Or(of_eight, kept_bit(hn::ShiftRight<16>(drawn[pair]), bit * 2));
        }
        // The last eight keys are the highest of the word in the end.
        bits = hn::Or(hn::ShiftRight<8>(bits), of_eight);
      }
      for (Index eight = eights; eight < kEightsOfWord; ++eight) bits = hn::ShiftRight<8>(bits);
      hn::StoreU(bits, d, kept + word * lanes + row);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(dropout_kernel);

void dropout_lanes(std::uint64_t seed, std::uint64_t stream, Index first_row, Index lanes, Index first_key, Index keys,
                   std::uint32_t threshold, std::uint32_t* kept) {
  HEED_DISPATCH(dropout_kernel)(seed, stream, first_row, lanes, first_key, keys, threshold, kept);
}

}  // namespace heed::kernels
#endif
