// Each mask's sets of keys, written out by hand from the definition that its paper gives.
#include "heed/ops/attention/spec/mask_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "heed/ops/attention/spec/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

using Rows = std::vector<std::string>;

// A row of the mask to a string: x where the key is allowed.
Rows drawn(const Mask& mask, Index queries, Index keys, Index b = 0, Index h = 0) {
  const MaskRows rows(mask, {b + 1, h + 1, queries, keys});
  Rows lines;
  for (Index i = 0; i < queries; ++i) {
    lines.emplace_back();
    for (Index j = 0; j < keys; ++j) lines.back() += rows.allows(b, h, i, j) ? 'x' : '.';
  }
  return lines;
}

TEST(MaskPattern, CausalAndSlidingWindow) {
  EXPECT_EQ(drawn(Mask::causal(), 3, 3), (Rows{"x..", "xx.", "xxx"}));
  EXPECT_EQ(drawn(Mask::causal(Anchor::end), 2, 4), (Rows{"xxx.", "xxxx"}));
  EXPECT_EQ(drawn(Mask::causal(Anchor::start), 2, 4), (Rows{"x...", "xx.."}));
  EXPECT_EQ(drawn(Mask::sliding_window(1, 0), 4, 4), (Rows{"x...", "xx..", ".xx.", "..xx"}));
  EXPECT_EQ(drawn(Mask::sliding_window(0, 1, Anchor::start), 2, 4), (Rows{"xx..", ".xx."}));
}

// Luong et al. 2015, section 3.2: the positions in [p - D, p + D].
TEST(MaskPattern, AroundWholeAndRealCentres) {
  const Tensor whole = Tensor::from(std::vector<std::int64_t>{0, 3, 9}, {1, 1, 3});
  EXPECT_EQ(drawn(Mask::around(whole, 1), 3, 6), (Rows{"xx....", "..xxx.", "......"}));
  // [p - 1, p + 1] around 2.5 is [1.5, 3.5]; around 0.25, [-0.75, 1.25]; around 2, [1, 3].
  const Tensor real = Tensor::from(std::vector<double>{2.5, 0.25, 2.0}, {1, 1, 3});
  EXPECT_EQ(drawn(Mask::around(real, 1), 3, 6), (Rows{"..xx..", "xx....", ".xxx.."}));
}

// Raffel et al. 2020, figure 3: a prefix that every position sees, and causal behind it.
TEST(MaskPattern, PrefixLm) {
  const Tensor prefix = Tensor::from(std::vector<std::int32_t>{2}, {1});
  EXPECT_EQ(drawn(Mask::prefix_lm(prefix), 4, 4), (Rows{"xx..", "xx..", "xxx.", "xxxx"}));
}

TEST(MaskPattern, KeyLengthsOfEachBatchElement) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{3, 1}, {2});
  EXPECT_EQ(drawn(Mask::key_lengths(lengths), 1, 4, 1), (Rows{"x..."}));
}

TEST(MaskPattern, TrueOfABooleanMaskMeansAttend) {
  const Tensor allowed = Tensor::zeros(DType::boolean, {1, 1, 2, 3});
  allowed.at<std::uint8_t>({0, 0, 0, 1}) = 1, allowed.at<std::uint8_t>({0, 0, 1, 2}) = 1;
  EXPECT_EQ(drawn(Mask::boolean(allowed), 2, 3), (Rows{".x.", "..x"}));
}

TEST(MaskPattern, SegmentsSeeThemselves) {
  const Tensor of_queries = Tensor::from(std::vector<std::int64_t>{0, 0, 1, 7}, {1, 4});
  const Tensor of_keys = Tensor::from(std::vector<std::int32_t>{0, 1, 1, 0, 2}, {1, 5});
  EXPECT_EQ(drawn(Mask::segments(of_queries, of_keys), 4, 5), (Rows{"x..x.", "x..x.", ".xx..", "....."}));
}

// Child et al. 2019, section 4.2, with stride l = 3 and both directions: A(1)_i = {i - l, ..., i}, and A(2)_i = {j: (i
// - j) mod l = 0}.
TEST(MaskPattern, StridedIsANeighbourhoodAndAComb) {
  EXPECT_EQ(drawn(Mask::strided({.stride = 3}), 8, 8),
            (Rows{"xxxx..x.", "xxxxx..x", "xxxxxx..", "xxxxxxx.", ".xxxxxxx", "..xxxxxx", "x..xxxxx", ".x..xxxx"}));
  EXPECT_EQ(drawn(Mask::strided({.stride = 3}) & Mask::causal(), 8, 8),
            (Rows{"x.......", "xx......", "xxx.....", "xxxx....", ".xxxx...", "..xxxx..", "x..xxxx.", ".x..xxxx"}));
}

// Child et al. 2019, "fixed", l = 4 and c = 1: A(1)_i = {j: floor(j / l) = floor(i / l)}, A(2)_i = {j: j mod l >= l -
// c}.
TEST(MaskPattern, FixedIsTheOwnBlockAndTheEndOfEvery) {
  EXPECT_EQ(drawn(Mask::fixed({.block = 4, .summary = 1}), 9, 9),
            (Rows{"xxxx...x.", "xxxx...x.", "xxxx...x.", "xxxx...x.", "...xxxxx.", "...xxxxx.", "...xxxxx.",
                  "...xxxxx.", "...x...xx"}));
}

// Beltagy et al. 2020, figure 2: a window of w = 2 radius + 1, dilated with gaps of size d, and symmetric global
// attention.
TEST(MaskPattern, LongformerIsAWindowAndGlobalPositions) {
  EXPECT_EQ(drawn(Mask::longformer({.radius = 1, .global = 0}), 4, 4), (Rows{"xx..", "xxx.", ".xxx", "..xx"}));
  EXPECT_EQ(drawn(Mask::longformer({.radius = 1, .global = 1}), 5, 5),
            (Rows{"xxxxx", "xxx..", "xxxx.", "x.xxx", "x..xx"}));
  EXPECT_EQ(drawn(Mask::longformer({.radius = 2, .global = 0, .dilation = 2}), 6, 6),
            (Rows{"x.x.x.", ".x.x.x", "x.x.x.", ".x.x.x", "x.x.x.", ".x.x.x"}));
  EXPECT_EQ(drawn(Mask::longformer({.radius = 1, .global = 0, .dilation = 3}), 1, 7), (Rows{"...x..x"}));
}

// Zaheer et al. 2020, in blocks: a window of 3 blocks of 2, the first block global, nothing random.
TEST(MaskPattern, BigBirdIsBlocksOfAWindowAndGlobals) {
  EXPECT_EQ(drawn(Mask::bigbird({.block = 2, .window = 3, .global = 1, .random = 0, .positions = 10}), 10, 10),
            (Rows{"xxxxxxxxxx", "xxxxxxxxxx", "xxxxxx....", "xxxxxx....", "xxxxxxxx..", "xxxxxxxx..", "xx..xxxxxx",
                  "xx..xxxxxx", "xx....xxxx", "xx....xxxx"}));
}

std::set<Index> blocks_of(const Mask& mask, Index h, Index row, Index keys) {
  const MaskRows rows(mask, {1, h + 1, 64, keys});
  std::set<Index> blocks;
  for (Index j = 0; j < keys; ++j) {
    if (rows.allows(0, h, row, j)) blocks.insert(j / 4);
  }
  return blocks;
}

// The random blocks: as many as asked, none that is open anyway, the same for the rows of a block, others for another
// head or seed, and not moved by padding.
TEST(MaskPattern, BigBirdDrawsDistinctBlocksThatPaddingDoesNotMove) {
  const BigBird pattern{.block = 4, .window = 1, .global = 1, .random = 3, .positions = 64, .seed = 5};
  BigBird reseeded = pattern;
  reseeded.seed = 6;
  const auto of = [](const BigBird& p) {
    Mask mask = Mask::bigbird(p);
    mask.anchor = Anchor::start;
    return mask;
  };
  bool heads_differ = false, seeds_differ = false;
  for (Index row = 4; row < 64; row += 4) {
    const std::set<Index> blocks = blocks_of(of(pattern), 0, row, 64);
    EXPECT_EQ(blocks.size(), 5u);  // global, own and three
    EXPECT_TRUE(blocks.contains(0) && blocks.contains(row / 4));
    EXPECT_EQ(blocks_of(of(pattern), 0, row + 3, 64), blocks);
    std::set<Index> padded = blocks_of(of(pattern), 0, row, 80);
    EXPECT_EQ(padded, blocks);
    heads_differ |= blocks_of(of(pattern), 1, row, 64) != blocks;
    seeds_differ |= blocks_of(of(reseeded), 0, row, 64) != blocks;
  }
  EXPECT_TRUE(heads_differ);
  EXPECT_TRUE(seeds_differ);
}

TEST(MaskPattern, BigBirdDrawsNoMoreBlocksThanThereAre) {
  const BigBird pattern{.block = 1, .window = 1, .global = 1, .random = 16, .positions = 4};
  EXPECT_EQ(drawn(Mask::bigbird(pattern), 4, 4), (Rows{"xxxx", "xxxx", "xxxx", "xxxx"}));
}

TEST(MaskPattern, TilesOpenWhole) {
  const Tensor open = Tensor::zeros(DType::boolean, {1, 2, 3});
  open.at<std::uint8_t>({0, 0, 1}) = 1, open.at<std::uint8_t>({0, 1, 0}) = 1, open.at<std::uint8_t>({0, 1, 2}) = 1;
  EXPECT_EQ(drawn(Mask::tiles(open, 2, 2), 3, 5), (Rows{"..xx.", "..xx.", "xx..x"}));
}

TEST(MaskPattern, PredicateIsAskedWithEveryIndex) {
  const Mask mask = Mask::predicate([](Index b, Index h, Index i, Index j) { return j == b + 2 * h + i; });
  EXPECT_EQ(drawn(mask, 2, 6, 1, 1), (Rows{"...x..", "....x."}));
}

TEST(MaskPattern, OnesOwnPatternNeedsOnlyItsPredicate) {
  struct EvenKeys final : MaskPattern {
    bool allows(Index, Index, Query, Index j) const override { return j % 2 == 0; }
  };
  Mask mask = Mask::causal();
  mask.patterns.push_back(std::make_shared<EvenKeys>());
  EXPECT_EQ(drawn(mask, 3, 3), (Rows{"x..", "x..", "x.x"}));
  const MaskRows rows(mask, {1, 1, 3, 3});
  EXPECT_EQ(rows.cover(rows.tile(0, 0, {0, 3}), {1, 2}), TileCover::none);
}

// A query that stands before the first key (Lq > Lk, anchor end) belongs to no block of keys.
TEST(MaskPattern, PositionsBeforeTheFirstKey) {
  EXPECT_EQ(drawn(Mask::fixed({.block = 2, .summary = 1}), 5, 3), (Rows{".x.", ".x.", "xx.", "xx.", ".xx"}));
  EXPECT_EQ(drawn(Mask::longformer({.radius = 1, .global = 1}), 5, 3), (Rows{"x..", "x..", "xxx", "xxx", "xxx"}));
}

}  // namespace
}  // namespace heed
