#include "heed/ops/attention/mask.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

constexpr Index kBatch = 2, kHeads = 2;

Tensor random_booleans(std::initializer_list<Index> shape, std::uint64_t seed) {
  Tensor tensor = Tensor::zeros(DType::boolean, shape);
  Rng rng(seed);
  // Whole stretches of one value, so that tiles of all and of none occur.
  std::uint8_t value = 1;
  for (Index i = 0; i < tensor.size(); ++i) {
    if (rng.below(4) == 0) value = static_cast<std::uint8_t>(rng.below(2));
    tensor.data<std::uint8_t>()[i] = value;
  }
  return tensor;
}

// Every answer of MaskRows against the definition.
void expect_consistent(const Mask& mask, Index queries, Index keys) {
  const MaskRows rows(mask, {kBatch, kHeads, queries, keys});
  for (Index b = 0; b < kBatch; ++b)
    for (Index h = 0; h < kHeads; ++h) {
      for (Index i = 0; i < queries; ++i) {
        const Range open = rows.keys(b, h, i);
        std::vector<std::uint8_t> allowed(static_cast<std::size_t>(keys));
        rows.fill(b, h, i, {0, keys}, allowed.data());
        for (Index j = 0; j < keys; ++j) {
          const bool inside = j >= open.begin && j < open.end;
          EXPECT_EQ(rows.allows(b, h, i, j), allowed[static_cast<std::size_t>(j)] != 0) << b << h << i << j;
          EXPECT_TRUE(inside || !rows.allows(b, h, i, j)) << b << h << i << j;
        }
      }
      for (Index i0 = 0; i0 <= queries; ++i0)
        for (Index i1 = i0; i1 <= queries; ++i1) {
          Range hull;
          for (Index i = i0; i < i1; ++i) {
            const Range open = rows.keys(b, h, i);
            if (!open.empty()) {
              hull = hull.empty() ? open : Range{std::min(hull.begin, open.begin), std::max(hull.end, open.end)};
            }
          }
          EXPECT_EQ(rows.keys(b, h, Range{i0, i1}), hull);
          for (Index j0 = 0; j0 <= keys; ++j0)
            for (Index j1 = j0; j1 <= keys; ++j1) {
              Index allowed = 0;
              for (Index i = i0; i < i1; ++i)
                for (Index j = j0; j < j1; ++j) allowed += rows.allows(b, h, i, j);
              const TileCover expected = allowed == 0                       ? TileCover::none
                                         : allowed == (i1 - i0) * (j1 - j0) ? TileCover::all
                                                                            : TileCover::some;
              ASSERT_EQ(rows.cover(b, h, {i0, i1}, {j0, j1}), expected)
                  << b << h << " rows " << i0 << ".." << i1 << " keys " << j0 << ".." << j1;
            }
        }
    }
}

TEST(Mask, TilesAgreeWithThePredicateOnEverySmallShape) {
  for (Index queries : {1, 3, 5})
    for (Index keys : {0, 1, 4, 6}) {
      const Tensor lengths = Tensor::from(std::vector<std::int64_t>{keys / 2, keys}, {2});
      std::vector<Mask> masks{{}};
      for (Anchor anchor : {Anchor::start, Anchor::end})
        for (std::optional<Index> left : {std::optional<Index>{}, std::optional<Index>{0}, std::optional<Index>{2}})
          for (std::optional<Index> right : {std::optional<Index>{}, std::optional<Index>{0}, std::optional<Index>{1}})
            masks.push_back(Mask::sliding_window(left, right, anchor));
      std::uint64_t seed = 0;
      const std::size_t windows = masks.size();
      for (std::size_t m = 0; m < windows; ++m) {
        expect_consistent(masks[m], queries, keys);
        expect_consistent(masks[m] & Mask::key_lengths(lengths), queries, keys);
        const Tensor full = random_booleans({kBatch, kHeads, queries, keys}, ++seed);
        const Tensor shared = random_booleans({1, kHeads, 1, keys}, ++seed);
        expect_consistent(masks[m] & Mask::boolean(full), queries, keys);
        expect_consistent(Mask::key_lengths(lengths) & masks[m] & Mask::boolean(shared), queries, keys);
      }
    }
}

TEST(Mask, AnchorSaysWhereTheDiagonalLies) {
  const MaskRows end(Mask::causal(Anchor::end), {1, 1, 2, 5}), start(Mask::causal(Anchor::start), {1, 1, 2, 5});
  EXPECT_EQ(end.keys(0, 0, 0), (Range{0, 4}));  // the last query sees the last key
  EXPECT_EQ(end.keys(0, 0, 1), (Range{0, 5}));
  EXPECT_EQ(start.keys(0, 0, 0), (Range{0, 1}));  // query i sees keys 0..i
  EXPECT_EQ(start.keys(0, 0, 1), (Range{0, 2}));
  const MaskRows more_queries(Mask::causal(Anchor::end), {1, 1, 5, 2});
  EXPECT_TRUE(more_queries.keys(0, 0, 2).empty());
  EXPECT_EQ(more_queries.keys(0, 0, 3), (Range{0, 1}));
}

TEST(Mask, BoundsAsLargeAsAnIndexDoNotOverflow) {
  const Index huge = std::numeric_limits<Index>::max();
  const MaskRows rows(Mask::sliding_window(huge, huge, Anchor::end), {1, 1, 9, 3});
  for (Index i = 0; i < 9; ++i) {
    EXPECT_EQ(rows.keys(0, 0, i), (Range{0, 3}));
    EXPECT_TRUE(rows.allows(0, 0, i, 2));
  }
}

TEST(Mask, IntersectionKeepsTheNarrowerWindow) {
  const Mask both = Mask::sliding_window(3, {}) & Mask::sliding_window(1, 2) & Mask::causal();
  EXPECT_EQ(both.window->left, 1);
  EXPECT_EQ(both.window->right, 0);
}

TEST(Mask, RefusesWhatItCannotIntersect) {
  const Tensor lengths = Tensor::zeros(DType::i32, {2}), allowed = Tensor::zeros(DType::boolean, {1, 1, 1, 3});
  EXPECT_THROW(Mask::key_lengths(lengths) & Mask::key_lengths(lengths), Error);
  EXPECT_THROW(Mask::causal(Anchor::start) & Mask::causal(Anchor::end), Error);
  EXPECT_THROW(Mask::sliding_window(-1, 0), Error);
  EXPECT_THROW(MaskRows(Mask::key_lengths(lengths), {3, 1, 1, 3}), Error);
  EXPECT_THROW(MaskRows(Mask::boolean(allowed), {1, 1, 1, 4}), Error);
  EXPECT_THROW(MaskRows(Mask::boolean(lengths), {1, 1, 1, 4}), Error);
}

}  // namespace
}  // namespace heed
