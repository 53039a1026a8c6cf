// A mask's answers about rows and tiles against its predicate, exhaustively on small shapes, and how masks meet.
#include "heed/ops/attention/spec/mask.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/attention_mask_choice.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

constexpr Index kBatch = 2, kHeads = 2;

Index allowed_in(const MaskRows& mask, Index b, Index h, Range rows, Range keys) {
  Index allowed = 0;
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index j = keys.begin; j < keys.end; ++j) allowed += mask.allows(b, h, i, j);
  return allowed;
}

void expect_row_consistent(const MaskRows& mask, Index b, Index h, Index i, Index keys) {
  const Range open = mask.keys(b, h, i);
  for (Index j = 0; j < keys; ++j) {
    const bool inside = j >= open.begin && j < open.end;
    EXPECT_TRUE(inside || !mask.allows(b, h, i, j)) << b << h << i << j;
    EXPECT_TRUE(!inside || !mask.hull_is_exact() || mask.allows(b, h, i, j)) << b << h << i << j;
  }
  for (Index j0 = 0; j0 <= keys; ++j0)
    for (Index j1 = j0; j1 <= keys; ++j1) {
      std::vector<std::uint8_t> allowed(static_cast<std::size_t>(j1 - j0), 2);
      mask.fill(b, h, i, {j0, j1}, allowed.data());
      for (Index j = j0; j < j1; ++j) {
        EXPECT_EQ(allowed[static_cast<std::size_t>(j - j0)], mask.allows(b, h, i, j)) << b << h << i << j;
      }
    }
}

// The words of a tile's rows against the definition.
void expect_words(const MaskRows& mask, const MaskTile& tile, Range keys) {
  const auto& [b, h, rows, hull, core] = tile;
  std::vector<std::uint64_t> words;
  for (Index i = rows.begin; i < rows.end; ++i) {
    const Range open = mask.keys(b, h, i);
    words.push_back(0);
    for (Index j = keys.begin; j < keys.end; ++j) {
      words.back() |= std::uint64_t{open.begin <= j && j < open.end} << (j - keys.begin);
    }
  }
  mask.refuse_within_hulls(b, h, rows, keys, words.data());
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index j = keys.begin; j < keys.end; ++j) {
      const bool allowed = words[static_cast<std::size_t>(i - rows.begin)] >> (j - keys.begin) & 1;
      EXPECT_EQ(allowed, mask.allows(b, h, i, j)) << b << h << " " << i << " " << j;
    }
}

// Every answer of MaskRows about every tile against the definition.
void expect_consistent(const Mask& mask, Index queries, Index keys) {
  const MaskRows rows(mask, {kBatch, kHeads, queries, keys});
  for (Index b = 0; b < kBatch; ++b)
    for (Index h = 0; h < kHeads; ++h) {
      for (Index i = 0; i < queries; ++i) expect_row_consistent(rows, b, h, i, keys);
      for (Index i0 = 0; i0 <= queries; ++i0)
        for (Index i1 = i0; i1 <= queries; ++i1) {
          Range hull;
          for (Index i = i0; i < i1; ++i) {
            const Range open = rows.keys(b, h, i);
            if (open.empty()) continue;
            hull = hull.empty() ? open : Range{std::min(hull.begin, open.begin), std::max(hull.end, open.end)};
          }
          for (Index other = 0; other < kBatch * kHeads; ++other) {
            if (!rows.alike(b, h, other / kHeads, other % kHeads)) continue;
            EXPECT_EQ(allowed_in(rows, b, h, {i0, i1}, {0, keys}),
                      allowed_in(rows, other / kHeads, other % kHeads, {i0, i1}, {0, keys}));
          }
          const MaskTile tile = rows.tile(b, h, {i0, i1});
          EXPECT_EQ(tile.hull, hull);
          for (Index j0 = 0; j0 <= keys; ++j0)
            for (Index j1 = j0; j1 <= keys; ++j1) {
              const Index allowed = allowed_in(rows, b, h, {i0, i1}, {j0, j1});
              const TileCover expected = allowed == 0                       ? TileCover::none
                                         : allowed == (i1 - i0) * (j1 - j0) ? TileCover::all
                                                                            : TileCover::some;
              ASSERT_EQ(rows.cover(tile, {j0, j1}), expected)
                  << b << h << " rows " << i0 << ".." << i1 << " keys " << j0 << ".." << j1;
              if (i0 < i1 && j0 < j1) expect_words(rows, tile, {j0, j1});
            }
        }
    }
}

void expect_consistent_on_every_shape(const Mask& mask) {
  for (Index queries : {1, 4, 7})
    for (Index keys : {0, 1, 5, 8}) expect_consistent(mask, queries, keys);
}

// What only the patterns themselves say: their counts, which judge tiles where one pattern stands alone.
void expect_counts_agree(const Mask& mask, Index queries, Index keys) {
  for (const auto& pattern : mask.patterns)
    for (Index h = 0; h < kHeads; ++h)
      for (Index i = 0; i < queries; ++i)
        for (Index position : {i, i - 3, i + 11})
          for (Index j0 = 0; j0 <= keys; ++j0)
            for (Index j1 = j0; j1 <= keys; ++j1) {
              Index allowed = 0;
              for (Index j = j0; j < j1; ++j) allowed += pattern->allows(1, h, {i, position}, j);
              ASSERT_EQ(pattern->count(1, h, {i, position}, {j0, j1}), allowed) << i << " at " << position;
            }
}

TEST(Mask, WindowsAgreeWithThePredicateOnEveryTile) {
  for (Anchor anchor : {Anchor::start, Anchor::end})
    for (std::optional<Index> left : {std::optional<Index>{}, std::optional<Index>{0}, std::optional<Index>{2}})
      for (std::optional<Index> right : {std::optional<Index>{}, std::optional<Index>{0}, std::optional<Index>{1}}) {
        expect_consistent_on_every_shape(Mask::sliding_window(left, right, anchor));
      }
}

TEST(Mask, PatternsAgreeWithThePredicateOnEveryTile) {
  for (Anchor anchor : {Anchor::start, Anchor::end}) {
    const auto expect = [&](Mask mask) {
      mask.anchor = anchor;
      expect_consistent_on_every_shape(mask);
      expect_counts_agree(mask, 7, 8);
    };
    for (Index stride : {1, 2, 3}) expect(Mask::strided({.stride = stride}));
    for (Index summary : {0, 1, 3}) expect(Mask::fixed({.block = 3, .summary = summary}));
    for (Index dilation : {1, 2})
      for (Index global : {0, 2}) {
        expect(Mask::longformer({.radius = 1, .global = global, .dilation = dilation}));
      }
    expect(Mask::bigbird({.block = 2, .window = 1, .global = 0, .random = 1, .positions = 8, .seed = 3}));
    expect(Mask::bigbird({.block = 1, .window = 3, .global = 1, .random = 2, .positions = 8, .seed = 4}));
    expect(Mask::predicate([](Index b, Index h, Index i, Index j) { return (b + 2 * h + 3 * i + j) % 4 != 1; }));
  }
}

// Masks whose views fit one shape: boolean, segments, tiles, lengths, prefixes and centres, and what they are together.
TEST(Mask, RandomIntersectionsAgreeWithThePredicateOnEveryTile) {
  Index patterns = 0, windows = 0, lengths = 0, further = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    testing::Choices choices(seed);
    const Index queries = choices.of({1, 3, 5}), keys = choices.of({0, 1, 4, 6});
    Mask mask = testing::choose_mask(choices, {kBatch, kHeads, queries, keys});
    if (choices.one_in(2)) testing::meet_another_mask(choices, {kBatch, kHeads, queries, keys}, false, mask);
    expect_consistent(mask, queries, keys);
    expect_counts_agree(mask, queries, keys);
    patterns += std::ssize(mask.patterns), windows += mask.window.has_value(), lengths += bool{mask.lengths};
    further += std::ssize(mask.further);
  }
  EXPECT_GT(patterns, 100);
  EXPECT_GT(windows, 100);
  EXPECT_GT(lengths, 50);
  EXPECT_GT(further, 50);
}

TEST(Mask, WordsOfAWideBooleanMaskAgreeWithThePredicate) {
  constexpr Index kQueries = 3, kKeys = 200;
  const Tensor allowed = Tensor::empty(DType::boolean, {1, 1, kQueries, kKeys});
  Rng rng(3);
  for (Index n = 0; n < allowed.size(); ++n) allowed.data<bool>()[n] = rng.uniform() < 0.7;
  const MaskRows rows(Mask::boolean(allowed) & Mask::causal(), {1, 1, kQueries, kKeys});
  for (const Range keys : {Range{0, 64}, Range{64, 128}, Range{130, 194}, Range{192, 200}}) {
    expect_words(rows, rows.tile(0, 0, {0, kQueries}), keys);
    expect_words(rows, rows.tile(0, 0, {2, 3}), keys);
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

TEST(Mask, AnchorLengthStandsTheLastQueryAtTheLastKeyOfItsLength) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{4, 1}, {2});
  const MaskRows rows(Mask::causal(Anchor::length) & Mask::key_lengths(lengths), {2, 1, 2, 6});
  EXPECT_EQ(rows.keys(0, 0, 0), (Range{0, 3}));
  EXPECT_EQ(rows.keys(0, 0, 1), (Range{0, 4}));
  EXPECT_TRUE(rows.keys(1, 0, 0).empty());  // stands before the first key
  EXPECT_EQ(rows.keys(1, 0, 1), (Range{0, 1}));
  EXPECT_EQ(rows.position(0, 1), 3);
  EXPECT_EQ(rows.position(1, 1), 0);
}

TEST(Mask, BoundsAsLargeAsAnIndexDoNotOverflow) {
  const Index huge = std::numeric_limits<Index>::max();
  const Mask masks[] = {Mask::sliding_window(huge, huge, Anchor::end), Mask::strided({.stride = huge}),
                        Mask::longformer({.radius = huge, .global = 0, .dilation = 1}),
                        Mask::longformer({.radius = 0, .global = huge, .dilation = huge})};
  for (const Mask& mask : masks) {
    const MaskRows rows(mask, {1, 1, 3, 3});
    for (Index i = 0; i < 3; ++i) {
      EXPECT_TRUE(rows.allows(0, 0, i, 2));
      EXPECT_EQ(rows.cover(rows.tile(0, 0, {i, i + 1}), {0, 3}), TileCover::all);
    }
  }
}

TEST(Mask, IntersectionKeepsTheNarrowerWindow) {
  const Mask both = Mask::sliding_window(3, {}) & Mask::sliding_window(1, 2) & Mask::causal();
  EXPECT_EQ(both.window->left, 1);
  EXPECT_EQ(both.window->right, 0);
}

TEST(Mask, IntersectionKeepsTheAnchorOfTheSideThatHasPositions) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{3}, {1});
  EXPECT_EQ((Mask::key_lengths(lengths) & Mask::causal(Anchor::start)).anchor, Anchor::start);
  EXPECT_EQ((Mask::causal(Anchor::start) & Mask::key_lengths(lengths)).anchor, Anchor::start);
  Mask fixed = Mask::fixed({.block = 2, .summary = 1});
  fixed.anchor = Anchor::length;
  EXPECT_EQ((fixed & Mask::key_lengths(lengths)).anchor, Anchor::length);
}

// What stands twice is one part: a layer's mask and a call's are often the same.
TEST(Mask, IntersectionWithItselfAddsNoPart) {
  const Tensor numbers = Tensor::from(std::vector<std::int32_t>{3, 2}, {2});
  const Tensor centre = Tensor::zeros(DType::i32, {1, 1, 1});
  for (const Mask& mask : {Mask::key_lengths(numbers), Mask::prefix_lm(numbers), Mask::around(centre, 2)}) {
    EXPECT_TRUE((mask & mask).further.empty());
    EXPECT_TRUE((mask & Mask::sliding_window(3, 3) & mask).further.size() <= 1);
  }
}

// A further padding hides keys, but moves no query.
TEST(Mask, AnchorLengthCountsFromTheLengthsOfItsOwnSide) {
  const Tensor cached = Tensor::from(std::vector<std::int32_t>{5}, {1});
  const Tensor shown = Tensor::from(std::vector<std::int32_t>{3}, {1});
  const Mask causal = Mask::causal(Anchor::length) & Mask::key_lengths(cached);
  for (const Mask& mask : {causal & Mask::key_lengths(shown), Mask::key_lengths(shown) & causal}) {
    const MaskRows rows(mask, {1, 1, 3, 6});
    EXPECT_EQ(rows.position(0, 2), 4);
    EXPECT_EQ(rows.keys(0, 0, 0), (Range{0, 3}));
    EXPECT_EQ(rows.length(0), 3);
  }
}

TEST(Mask, RefusesWhatDoesNotFitTheProblem) {
  const auto failing = [](const Mask& mask) { return refusal([&] { MaskRows(mask, {2, 4, 3, 5}); }); };
  const auto integers = [](std::initializer_list<Index> shape) { return Tensor::zeros(DType::i32, shape); };
  const auto booleans = [](std::initializer_list<Index> shape) { return Tensor::zeros(DType::boolean, shape); };
  const Tensor three = integers({3}), long_keys = Tensor::from(std::vector<std::int32_t>{6, 0}, {2});
  EXPECT_EQ(failing(Mask::key_lengths(three)), "MaskRows: key lengths must be i32 or i64 [2], but are i32 [3]");
  EXPECT_EQ(failing(Mask::key_lengths(long_keys)),
            "MaskRows: key lengths must be in [0, Lk = 5], but that of batch element 0 is 6");
  EXPECT_EQ(failing(Mask::causal(Anchor::length)), "MaskRows: Anchor::length needs key lengths");
  EXPECT_EQ(failing(Mask::prefix_lm(three)), "MaskRows: the window's prefix must be i32 or i64 [2], but are i32 [3]");
  const Tensor narrow = booleans({2, 1, 1, 3}), numbers = integers({1, 1, 3, 5}), tiles = booleans({4, 2, 2});
  EXPECT_EQ(failing(Mask::boolean(narrow)),
            "MaskRows: the boolean mask must be boolean [B | 1, H | 1, Lq | 1, Lk | 1] of [2, 4, 3, 5], but is boolean "
            "[2, 1, 1, 3]");
  EXPECT_EQ(failing(Mask::boolean(numbers)),
            "MaskRows: the boolean mask must be boolean [B | 1, H | 1, Lq | 1, Lk | 1] of [2, 4, 3, 5], but is i32 [1, "
            "1, 3, 5]");
  EXPECT_EQ(failing(Mask::tiles(tiles, 2, 2)),
            "MaskRows: the tiles of 2 x 2 must be boolean [H | 1, 2, 3] of H = 4, but are boolean [4, 2, 2]");
  const Tensor of_queries = integers({2, 3}), of_keys = integers({1, 4}), centre = integers({2, 4, 2});
  EXPECT_EQ(failing(Mask::segments(of_queries, of_keys)),
            "MaskRows: segments must be i32 or i64 [B | 1, Lq] and [B | 1, Lk] of B = 2, Lq = 3, Lk = 5, but are i32 "
            "[2, 3] and i32 [1, 4]");
  EXPECT_EQ(failing(Mask::around(centre, 1)),
            "MaskRows: the window's centre must be f32, f64, i32 or i64 [B | 1, H | 1, Lq] of [2, 4, 3], but is i32 "
            "[2, 4, 2]");
}

TEST(Mask, ConstructorsRefuseNumbersThatMeanNothing) {
  const Tensor centre = Tensor::zeros(DType::i32, {1, 1, 1}), tiles = Tensor::zeros(DType::boolean, {1, 1, 1});
  EXPECT_EQ(refusal([] { Mask::sliding_window(-1, 0); }),
            "Mask::sliding_window: the window's left bound must not be negative, but is -1");
  EXPECT_EQ(refusal([&] { Mask::around(centre, -2); }),
            "Mask::around: the window's outer bound must not be negative, but is -2");
  EXPECT_EQ(refusal([] { Mask::strided({.stride = 0}); }), "Mask::strided: stride must be at least 1, but is 0");
  EXPECT_EQ(refusal([] { Mask::fixed({.block = 0}); }), "Mask::fixed: block must be at least 1, but is 0");
  EXPECT_EQ(refusal([] { Mask::fixed({.block = 2, .summary = 3}); }),
            "Mask::fixed: summary must be in [0, block = 2], but is 3");
  EXPECT_EQ(refusal([] { Mask::longformer({.radius = -1}); }),
            "Mask::longformer: radius must not be negative, but is -1");
  EXPECT_EQ(refusal([] { Mask::longformer({.dilation = 0}); }),
            "Mask::longformer: dilation must be at least 1, but is 0");
  EXPECT_EQ(refusal([] { Mask::bigbird({.block = 0}); }), "Mask::bigbird: block must be at least 1, but is 0");
  EXPECT_EQ(refusal([] { Mask::bigbird({.window = 2}); }), "Mask::bigbird: window must be odd, but is 2");
  EXPECT_EQ(refusal([] { Mask::bigbird({.random = 17}); }), "Mask::bigbird: random must be in [0, 16], but is 17");
  EXPECT_EQ(refusal([&] { Mask::tiles(tiles, 0, 1); }), "Mask::tiles: rows must be at least 1, but is 0");
  EXPECT_EQ(refusal([] { Mask::predicate({}); }), "Mask::predicate: the function must not be empty");
}

// Takes the memory that was freed last for other numbers.
void reuse_freed_memory(DType dtype, std::initializer_list<Index> shape, std::vector<Tensor>& kept) {
  for (int n = 0; n < 16; ++n) {
    kept.push_back(Tensor::empty(dtype, shape));
    fill(kept.back(), 1);
  }
}

TEST(Mask, OfTemporariesHasTheNumbersThatTheyHad) {
  using Numbers = std::vector<std::int32_t>;
  const auto integers = [](const Numbers& numbers, std::initializer_list<Index> shape) {
    return Tensor::from(numbers, shape);
  };
  const auto zeros = [](DType dtype, std::initializer_list<Index> shape) { return Tensor::zeros(dtype, shape); };
  const Mask lengths = Mask::key_lengths(integers({4, 3}, {2}));
  const Mask prefix = Mask::prefix_lm(integers({4, 3}, {2}), Anchor::start);
  const Mask around = Mask::around(integers({3, 3}, {1, 1, 2}), 0);
  const Mask none = Mask::boolean(zeros(DType::boolean, {1, 1, 2, 5}));
  const Mask no_tile = Mask::tiles(zeros(DType::boolean, {1, 2, 5}), 1, 1);
  const Mask segments = Mask::segments(integers({0, 2}, {1, 2}), integers({0, 0, 2, 2, 2}, {1, 5}));
  std::vector<Tensor> kept;
  reuse_freed_memory(DType::i32, {5}, kept), reuse_freed_memory(DType::boolean, {10}, kept);
  const auto allowed = [](const Mask& mask, Index b, Index i) {
    const MaskRows rows(mask, {2, 1, 2, 5});
    return allowed_in(rows, b, 0, {i, i + 1}, {0, 5});
  };
  EXPECT_EQ(allowed(lengths, 0, 0), 4);
  EXPECT_EQ(allowed(lengths, 1, 0), 3);
  EXPECT_EQ(allowed(prefix, 0, 0), 4);
  EXPECT_EQ(allowed(prefix, 1, 1), 3);
  EXPECT_EQ(MaskRows(around, {2, 1, 2, 5}).keys(0, 0, 1), (Range{3, 4}));
  EXPECT_EQ(allowed(none, 0, 0), 0);
  EXPECT_EQ(allowed(no_tile, 0, 1), 0);
  EXPECT_EQ(allowed(segments, 0, 0), 2);
  EXPECT_EQ(allowed(segments, 0, 1), 3);
}

}  // namespace
}  // namespace heed
