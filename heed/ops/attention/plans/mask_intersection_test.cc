// Every pair of masks, and what attention makes of it, against booleans written out from what each mask says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>

#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

constexpr Index kBatch = 2, kHeads = 2, kQueries = 5, kKeys = 7;
constexpr Index kAhead = kKeys - kQueries;  // of the key at which query 0 stands under Anchor::end

// One kind of mask, and the keys that it allows, said a second time.
struct MaskKind {
  std::string name;
  Mask mask;
  std::function<bool(Index b, Index h, Index i, Index j)> allows;
  std::optional<Anchor> counts_from = {};  // where it counts from the queries' positions
};

class MaskIntersection : public ::testing::Test {
 protected:
  MaskIntersection() {
    for (Index n = 0; n < allowed_.size(); ++n) allowed_.data<std::uint8_t>()[n] = n % 5 != 2;
    for (Index n = 0; n < open_tiles_.size(); ++n) open_tiles_.data<std::uint8_t>()[n] = n % 3 != 1;
  }

  // A fresh call's patterns are other objects; the views stay.
  std::vector<MaskKind> kinds() const {
    const auto at = [](const Tensor& x, Index b) { return Index{x.data<std::int32_t>()[b]}; };
    const auto near = [](double centre, double radius, Index j) {
      return std::abs(static_cast<double>(j) - centre) <= radius;
    };
    Mask gap = Mask::prefix_lm(prefix_);
    gap.window->left = 1;
    return {
        {"causal", Mask::causal(), [](Index, Index, Index i, Index j) { return j <= i + kAhead; }, Anchor::end},
        {"causal from the start", Mask::causal(Anchor::start), [](Index, Index, Index i, Index j) { return j <= i; },
         Anchor::start},
        {"causal in a padded cache", Mask::causal(Anchor::length) & Mask::key_lengths(lengths_),
         [=, this](Index b, Index, Index i, Index j) {
           return j < at(lengths_, b) && j <= i + at(lengths_, b) - kQueries;
         },
         Anchor::length},
        {"padding", Mask::key_lengths(lengths_),
         [=, this](Index b, Index, Index, Index j) { return j < at(lengths_, b); }},
        {"another padding", Mask::key_lengths(other_lengths_),
         [=, this](Index b, Index, Index, Index j) { return j < at(other_lengths_, b); }},
        {"window", Mask::sliding_window(2, 1),
         [](Index, Index, Index i, Index j) { return i + kAhead - 2 <= j && j <= i + kAhead + 1; }, Anchor::end},
        {"prefix", Mask::prefix_lm(prefix_),
         [=, this](Index b, Index, Index i, Index j) { return j < at(prefix_, b) || j <= i + kAhead; }, Anchor::end},
        {"another prefix", Mask::prefix_lm(other_prefix_),
         [=, this](Index b, Index, Index i, Index j) { return j < at(other_prefix_, b) || j <= i + kAhead; },
         Anchor::end},
        {"prefix with a gap", gap,
         [=, this](Index b, Index, Index i, Index j) {
           return j < at(prefix_, b) || (i + kAhead - 1 <= j && j <= i + kAhead);
         },
         Anchor::end},
        {"around real places", Mask::around(places_, 2),
         [=, this](Index b, Index h, Index i, Index j) {
           return near(places_.at<float>({b, h, i}), 2, j);
         }},
        {"around whole places", Mask::around(whole_places_, 1),
         [=, this](Index b, Index, Index i, Index j) {
           return near(static_cast<double>(whole_places_.at<std::int32_t>({b, 0, i})), 1, j);
         }},
        {"boolean", Mask::boolean(allowed_),
         [this](Index b, Index h, Index i, Index j) {
           return allowed_.at<std::uint8_t>({b, h, i, j}) != 0;
         }},
        {"segments", Mask::segments(of_queries_, of_keys_),
         [this](Index, Index, Index i, Index j) {
           return of_queries_.at<std::int32_t>({0, i}) == of_keys_.at<std::int32_t>({0, j});
         }},
        {"strided", Mask::strided({.stride = 3}),
         [](Index, Index, Index i, Index j) {
           const Index apart = std::abs(i + kAhead - j);
           return apart <= 3 || apart % 3 == 0;
         },
         Anchor::end},
        {"fixed", Mask::fixed({.block = 3, .summary = 1}),
         [](Index, Index, Index i, Index j) { return j / 3 == (i + kAhead) / 3 || j % 3 == 2; }, Anchor::end},
        {"local and global", Mask::longformer({.radius = 1, .global = 3}),
         [](Index, Index, Index i, Index j) { return j < 3 || i + kAhead < 3 || std::abs(i + kAhead - j) <= 1; },
         Anchor::end},
        {"local and global blocks", Mask::bigbird({.block = 2, .window = 1, .global = 1, .random = 0}),
         [](Index, Index, Index i, Index j) { return j < 2 || i + kAhead < 2 || j / 2 == (i + kAhead) / 2; },
         Anchor::end},
        {"tiles", Mask::tiles(open_tiles_, 2, 3),
         [this](Index, Index h, Index i, Index j) {
           return open_tiles_.at<std::uint8_t>({h, i / 2, j / 3}) != 0;
         }},
        {"predicate", Mask::predicate([](Index b, Index h, Index i, Index j) { return (b + h + 2 * i + j) % 4 != 0; }),
         [](Index b, Index h, Index i, Index j) { return (b + h + 2 * i + j) % 4 != 0; }},
    };
  }

  static bool may_meet(const MaskKind& a, const MaskKind& b) {
    return !a.counts_from || !b.counts_from || *a.counts_from == *b.counts_from;
  }

  // Calls f(a, b) for every two kinds whose masks may meet, in both orders.
  template <typename F>
  void for_pairs(const F& f) const {
    for (const MaskKind& a : kinds())
      for (const MaskKind& b : kinds()) {
        SCOPED_TRACE(a.name + " & " + b.name);
        if (may_meet(a, b)) f(a, b);
      }
  }

  // boolean [B, H, Lq, Lk]
  static Tensor written_out(const std::vector<MaskKind>& all) {
    const Tensor allowed = Tensor::empty(DType::boolean, {kBatch, kHeads, kQueries, kKeys});
    for (Index b = 0; b < kBatch; ++b)
      for (Index h = 0; h < kHeads; ++h)
        for (Index i = 0; i < kQueries; ++i)
          for (Index j = 0; j < kKeys; ++j) {
            bool every = true;
            for (const MaskKind& kind : all) every = every && kind.allows(b, h, i, j);
            allowed.at<std::uint8_t>({b, h, i, j}) = every;
          }
    return allowed;
  }

  static Tensor integers(const std::vector<std::int32_t>& values, std::initializer_list<Index> shape) {
    return Tensor::from(values, shape);
  }

  const Tensor lengths_ = integers({6, 3}, {kBatch}), other_lengths_ = integers({4, 5}, {kBatch});
  const Tensor prefix_ = integers({4, 1}, {kBatch}), other_prefix_ = integers({2, 7}, {kBatch});
  const Tensor places_ = Tensor::from<float>(
      std::vector<float>{0.5f, 6, 2.25f, -1, 9, 3, 3.5f, 1, 0, 5, 4.75f, 2, 2, 6.5f, 0.25f, 1, 5, 4, 7, 2},
      {kBatch, kHeads, kQueries});
  const Tensor whole_places_ = integers({0, 2, 5, 6, 3, 1, 1, 4, 9, 2}, {kBatch, 1, kQueries});
  const Tensor of_queries_ = integers({0, 0, 1, 1, 2}, {1, kQueries});
  const Tensor of_keys_ = integers({0, 0, 1, 1, 1, 2, 2}, {1, kKeys});
  const Tensor allowed_ = Tensor::empty(DType::boolean, {kBatch, kHeads, kQueries, kKeys});
  const Tensor open_tiles_ = Tensor::empty(DType::boolean, {kHeads, 3, 3});
};

void expect_allows(const Mask& mask, const Tensor& allowed) {
  const MaskRows rows(mask, {kBatch, kHeads, kQueries, kKeys});
  for (Index b = 0; b < kBatch; ++b)
    for (Index h = 0; h < kHeads; ++h)
      for (Index i = 0; i < kQueries; ++i) {
        std::vector<std::uint8_t> filled(kKeys);
        rows.fill(b, h, i, {0, kKeys}, filled.data());
        for (Index j = 0; j < kKeys; ++j) {
          const bool expected = allowed.at<std::uint8_t>({b, h, i, j}) != 0;
          ASSERT_EQ(rows.allows(b, h, i, j), expected) << b << h << i << j;
          ASSERT_EQ(filled[static_cast<std::size_t>(j)] != 0, expected) << b << h << i << j;
        }
      }
}

TEST_F(MaskIntersection, OfEveryPairAllowsWhatBothAllow) {
  int pairs = 0;
  for_pairs([&](const MaskKind& a, const MaskKind& b) {
    expect_allows(a.mask & b.mask, written_out({a, b}));
    ++pairs;
  });
  EXPECT_EQ(pairs, 19 * 19 - 2 * (9 + 9 + 1));  // all but those of two anchors: 9 kinds count from the end
}

// Two windows of which each has a prefix or a centre, and more key lengths than one, still meet a third of them.
TEST_F(MaskIntersection, OfThreeAllowsWhatAllAllow) {
  for_pairs([&](const MaskKind& a, const MaskKind& b) {
    for (const MaskKind& c : kinds()) {
      if (!may_meet(a, c) || !may_meet(b, c)) continue;
      SCOPED_TRACE(c.name);
      const Tensor allowed = written_out({a, b, c});
      expect_allows((a.mask & b.mask) & c.mask, allowed);
      expect_allows(a.mask & (b.mask & c.mask), allowed);
    }
  });
}

TEST_F(MaskIntersection, IsRefusedOnlyWhereBothCountFromDifferentPlaces) {
  for (const MaskKind& a : kinds())
    for (const MaskKind& b : kinds()) {
      const std::string message = testing::refusal([&] { return a.mask & b.mask; });
      EXPECT_EQ(message == "no error", may_meet(a, b)) << a.name << " & " << b.name << ": " << message;
    }
  EXPECT_EQ(testing::refusal([] { return Mask::causal(Anchor::start) & Mask::strided({.stride = 2}); }),
            "Mask &: both sides count from the queries' positions, so they must have the same anchor, but have start "
            "and end");
  const Mask cache = Mask::causal(Anchor::length);
  EXPECT_EQ(testing::refusal(
                [&] { return (cache & Mask::key_lengths(lengths_)) & (cache & Mask::key_lengths(other_lengths_)); }),
            "Mask &: both sides count from the last key within their key lengths, so these must be one view, but are "
            "i32 [2] and i32 [2]");
}

// The plans compute with the pair what they compute with its booleans; so do the weights on request.
TEST_F(MaskIntersection, OfEveryPairIsWhatAttentionComputesWith) {
  constexpr testing::AttentionShape kShape{.batch = kBatch,
                                           .heads = kHeads,
                                           .key_heads = 1,
                                           .queries = kQueries,
                                           .keys = kKeys,
                                           .width = 4,
                                           .value_width = 4};
  testing::AttentionSample softmax = testing::plain_problem(kShape), linear = testing::plain_problem(kShape);
  linear.spec.score = Score::features({}), linear.spec.normaliser = Normaliser::sum();
  Workspace workspace;
  const auto weights_of = [&](const testing::AttentionSample& p, const Tensor& row_stat) {
    const Tensor weights = Tensor::empty(DType::f32, {kBatch, kHeads, kQueries, kKeys});
    attention_weights(p.q, p.k, p.spec, row_stat, weights, workspace);
    return std::vector<float>(weights.data<float>(), weights.data<float>() + weights.size());
  };
  for_pairs([&](const MaskKind& a, const MaskKind& b) {
    for (const testing::AttentionSample& plain : {softmax, linear}) {
      testing::AttentionSample pair = plain, booleans = plain;
      const Tensor allowed = written_out({a, b});
      pair.spec.mask = a.mask & b.mask, booleans.spec.mask = Mask::boolean(allowed);
      const testing::AttentionYardstick yardstick(booleans);
      testing::AttentionAnswer answer;
      for (const AttentionPlan* plan : testing::plans_for(pair)) {
        answer = testing::solve(*plan, pair);
        EXPECT_EQ(yardstick.complaint(answer), "") << plan->name;
      }
      EXPECT_EQ(weights_of(pair, answer.row_stat), weights_of(booleans, answer.row_stat));
    }
  });
}

// Packed sequences take their own numbers from each of several windows and key lengths.
TEST_F(MaskIntersection, ReachesEachPackedSequence) {
  const Index total = 12;
  const Tensor q = Tensor::zeros(DType::f32, {1, kHeads, total, 4}), k = Tensor::zeros(DType::f32, {1, 1, total, 4});
  const Tensor v = Tensor::zeros(DType::f32, {1, 1, total, 1}), offsets = integers({0, 5, 12}, {3});
  for (Index j = 0; j < total; ++j) v.data<float>()[j] = static_cast<float>(std::exp2(j));
  const Tensor centre = Tensor::zeros(DType::i32, {1, 1, total});
  for (Index i = 0; i < total; ++i) centre.data<std::int32_t>()[i] = static_cast<std::int32_t>(i % 5);
  const Tensor some = integers({4, 7}, {2}), fewer = integers({5, 3}, {2});
  const Mask mask = Mask::causal() & Mask::around(centre, 1) & Mask::key_lengths(some) & Mask::key_lengths(fewer);
  const Tensor out = Tensor::empty(DType::f32, {1, kHeads, total, 1});
  Workspace workspace;
  attention(q, k, v, {.mask = mask, .sequences = {.query_offsets = offsets, .key_offsets = offsets}}, {.out = out},
            workspace);
  for (Index n = 0; n < 2; ++n) {
    const Index begin = n == 0 ? 0 : 5, end = n == 0 ? 5 : total;
    for (Index i = begin; i < end; ++i) {
      double sum = 0, count = 0;  // equal scores: the mean of what is seen
      for (Index j = begin; j < end; ++j) {
        const Index own = j - begin, most = std::min(some.data<std::int32_t>()[n], fewer.data<std::int32_t>()[n]);
        if (j <= i && std::abs(own - i % 5) <= 1 && own < most) sum += std::exp2(j), ++count;
      }
      EXPECT_FLOAT_EQ(out.at<float>({0, 1, i, 0}), static_cast<float>(count == 0 ? 0 : sum / count)) << n << i;
    }
  }
}

}  // namespace
}  // namespace heed
