#include "heed/text/batching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

// Lengths like those of a translation corpus: log-normal sources around 14 tokens, targets near 1.1 times their source.
std::vector<PairLength> realistic_lengths(Index pairs) {
  Rng rng(7);
  std::vector<PairLength> lengths;
  for (Index i = 0; i < pairs; ++i) {
    const double source = std::exp(2.6 + 0.4 * rng.normal());
    const double target = source * std::exp(0.1 + 0.15 * rng.normal());
    const auto tokens = [](double x) { return std::clamp<Index>(std::llround(x), 2, 100); };
    lengths.push_back({tokens(source), tokens(target)});
  }
  return lengths;
}

std::vector<Index> flatten(const BatchPlan& plan) {
  std::vector<Index> all;
  for (const auto& batch : plan) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

struct Cost {
  Index tokens = 0, padded = 0;
};

Cost cost(const BatchPlan& plan, const std::vector<PairLength>& lengths) {
  Cost total;
  for (const auto& batch : plan) {
    Index source = 0, target = 0;
    for (const Index pair : batch) {
      source = std::max(source, lengths[pair].source);
      target = std::max(target, lengths[pair].target);
      total.tokens += lengths[pair].source + lengths[pair].target;
    }
    total.padded += static_cast<Index>(batch.size()) * (source + target);
  }
  return total;
}

TEST(PlanBatches, CoversEveryPairExactlyOnce) {
  const auto lengths = realistic_lengths(5000);
  for (const BatchingOptions options : {BatchingOptions{4096, 100}, {100, 1}, {500, 3}, {1 << 30, 100}}) {
    std::vector<Index> all = flatten(plan_batches(lengths, options, 1, 0));
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), lengths.size());
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<Index>(i));
  }
}

TEST(PlanBatches, KeepsPaddedTokensWithinTheBudget) {
  const auto lengths = realistic_lengths(5000);
  for (const Index budget : {100, 333, 4096}) {
    for (const auto& batch : plan_batches(lengths, {.token_budget = budget}, 1, 0)) {
      ASSERT_FALSE(batch.empty());
      Index source = 0, target = 0;
      for (const Index pair : batch) {
        source = std::max(source, lengths[pair].source);
        target = std::max(target, lengths[pair].target);
      }
      EXPECT_LE(static_cast<Index>(batch.size()) * source, budget);
      EXPECT_LE(static_cast<Index>(batch.size()) * target, budget);
    }
  }
}

TEST(PlanBatches, PadsUnderATenthAndFillsTheBudget) {
  const auto lengths = realistic_lengths(30000);
  for (const Index budget : {2048, 4096, 8192}) {
    const BatchPlan plan = plan_batches(lengths, {.token_budget = budget}, 3, 5);
    const Cost total = cost(plan, lengths);
    EXPECT_LT(1.0 - static_cast<double>(total.tokens) / static_cast<double>(total.padded), 0.10) << budget;
    Index longer_sides = 0;
    for (const PairLength& length : lengths) longer_sides += std::max(length.source, length.target);
    EXPECT_LT(static_cast<double>(plan.size()),
              1.15 * static_cast<double>(longer_sides) / static_cast<double>(budget) + 1);
  }
}

TEST(PlanBatches, IsAPureFunctionOfSeedAndEpoch) {
  const auto lengths = realistic_lengths(2000);
  const BatchPlan plan = plan_batches(lengths, {.token_budget = 512}, 11, 4);
  EXPECT_EQ(plan_batches(lengths, {.token_budget = 512}, 11, 4), plan);
  EXPECT_NE(plan_batches(lengths, {.token_budget = 512}, 11, 5), plan);
  EXPECT_NE(plan_batches(lengths, {.token_budget = 512}, 12, 4), plan);
}

TEST(PlanBatches, MixesPairsAnewAndVisitsLengthsInNoOrder) {
  const auto lengths = realistic_lengths(4000);
  auto sorted = [&](std::uint64_t epoch) {
    BatchPlan plan = plan_batches(lengths, {.token_budget = 512}, 1, epoch);
    for (auto& batch : plan) std::sort(batch.begin(), batch.end());
    std::sort(plan.begin(), plan.end());
    return plan;
  };
  const BatchPlan first = sorted(0), second = sorted(1);
  std::vector<std::vector<Index>> same;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(same));
  EXPECT_LT(same.size(), first.size() / 4);

  const BatchPlan plan = plan_batches(lengths, {.token_budget = 512}, 1, 0);
  Index rises = 0;
  for (std::size_t i = 1; i < plan.size(); ++i) rises += lengths[plan[i][0]].target > lengths[plan[i - 1][0]].target;
  EXPECT_GT(rises, static_cast<Index>(plan.size()) / 4);
  EXPECT_LT(rises, 3 * static_cast<Index>(plan.size()) / 4);
}

TEST(PlanBatches, OnePairAndNoPair) {
  EXPECT_EQ(plan_batches(std::vector<PairLength>{{3, 4}}, {.token_budget = 4}, 0, 0), BatchPlan{{0}});
  EXPECT_TRUE(plan_batches({}, {}, 0, 0).empty());
}

TEST(PlanBatches, RefusesAPairOverTheBudgetAndBadOptions) {
  const std::vector<PairLength> lengths = {{3, 3}, {3, 9}};
  const std::string message = testing::refusal([&] { plan_batches(lengths, {.token_budget = 8}, 0, 0); });
  EXPECT_NE(message.find("pair 1 takes 3 source and 9 target tokens"), std::string::npos) << message;
  EXPECT_THROW(plan_batches(lengths, {.token_budget = 0}, 0, 0), Error);
  EXPECT_THROW(plan_batches(lengths, {.pool_batches = 0}, 0, 0), Error);
  EXPECT_THROW(plan_batches(std::vector<PairLength>{{0, 3}}, {}, 0, 0), Error);
}

TEST(MakeBatch, PadsSourceAndShiftsTarget) {
  EncodedCorpus corpus;
  corpus.pairs = {{{9}, {9, 9}}, {{10, 11, 12}, {20}}, {{13}, {21, 22, 23}}};
  const Batch batch = make_batch(corpus, std::vector<Index>{1, 2});
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.source_length, 4);
  EXPECT_EQ(batch.source, (std::vector<int>{10, 11, 12, 3, /**/ 13, 3, 0, 0}));
  EXPECT_EQ(batch.source_lengths, (std::vector<Index>{4, 2}));
  EXPECT_EQ(batch.target_length, 4);
  EXPECT_EQ(batch.target_input, (std::vector<int>{2, 20, 0, 0, /**/ 2, 21, 22, 23}));
  EXPECT_EQ(batch.target_output, (std::vector<int>{20, 3, kNoTarget, kNoTarget, /**/ 21, 22, 23, 3}));
  EXPECT_EQ(batch.target_lengths, (std::vector<Index>{2, 4}));
  EXPECT_EQ(batch.target_tokens, 6);
}

TEST(MakeBatch, TakesAsManyTokensAsWerePlanned) {
  EncodedCorpus corpus;
  corpus.pairs = {{{9}, {9, 9}}, {{10, 11, 12}, {20}}};
  const auto lengths = padded_lengths(corpus);
  for (Index i = 0; i < corpus.size(); ++i) {
    const Batch batch = make_batch(corpus, std::vector<Index>{i});
    EXPECT_EQ(batch.source_length, lengths[i].source);
    EXPECT_EQ(batch.target_length, lengths[i].target);
  }
}

TEST(MakeBatch, RefusesNoPairAndAPairThatIsNotThere) {
  EncodedCorpus corpus;
  corpus.pairs = {{{9}, {9}}};
  EXPECT_THROW(make_batch(corpus, {}), Error);
  EXPECT_THROW(make_batch(corpus, std::vector<Index>{1}), Error);
  EXPECT_THROW(make_batch(corpus, std::vector<Index>{-1}), Error);
}

TEST(MakeSourceBatch, PadsAndTakesAnEmptySentence) {
  const std::vector<std::vector<int>> sentences = {{}, {5, 6}};
  const SourceBatch batch = make_source_batch(sentences);
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.source_length, 3);
  EXPECT_EQ(batch.source, (std::vector<int>{3, 0, 0, /**/ 5, 6, 3}));
  EXPECT_EQ(batch.source_lengths, (std::vector<Index>{1, 3}));
  EXPECT_THROW(make_source_batch({}), Error);
}

}  // namespace
}  // namespace heed
