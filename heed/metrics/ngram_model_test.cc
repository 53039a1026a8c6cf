#include "heed/metrics/ngram_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

constexpr int kBegin = 0, kEnd = 1;

NgramModel counted(int order, Index ids = 6) {
  NgramModel model(order);
  for (const std::vector<int>& document : std::vector<std::vector<int>>{
           {kBegin, 2, 3, 4, kEnd}, {kBegin, 2, 3, 2, kEnd}, {kBegin, 4, 3, kEnd}, {kBegin, 2, 4, kEnd}}) {
    model.add(document);
  }
  model.finish(ids);
  return model;
}

TEST(NgramModelTest, ProbabilitiesAfterAnyHistorySumToOne) {
  const std::vector<std::vector<int>> histories{{}, {kBegin}, {2}, {5}, {kBegin, 2}, {2, 3}, {5, 3}, {kBegin, 2, 3}};
  for (int order : {1, 2, 3, 5}) {
    const NgramModel model = counted(order);
    for (const std::vector<int>& history : histories) {
      double sum = 0;
      for (int id = 0; id < 6; ++id) sum += std::exp(model.log_probability(history, id));
      EXPECT_NEAR(sum, 1, 1e-12) << order << ::testing::PrintToString(history);
    }
  }
}

// Of the 14 ids counted 4 is seen 3 times; no id is seen once or twice, so the discount is 1/2, and four ids are seen.
TEST(NgramModelTest, AUnigramIsItsFrequencyAndItsShareOfTheDiscounts) {
  const NgramModel model = counted(1);
  EXPECT_NEAR(std::exp(model.log_probability({}, 4)), (3 - 0.5 + 0.5 * 4 / 6) / 14, 1e-12);
  EXPECT_NEAR(std::exp(model.log_probability({}, 5)), 0.5 * 4 / 6 / 14, 1e-12);
}

// Bigrams: once (2 4) (3 4) (3 2) (3 end) (2 end) (begin 4) (4 3), twice (2 3) (4 end), three times (begin 2): the
// discount is 7 / 11. After 3 came 4, 2 and the end; before 4 stood 2, 3 and begin, and there are 10 different bigrams.
// Of the lower counts 2 has 2, 3 has 2, 4 and the end have 3 each: no ones, so the discount there is 1/2.
TEST(NgramModelTest, ABigramFallsBackOnHowManyIdsStoodBefore) {
  const NgramModel model = counted(2);
  const double lower = (3 - 0.5 + 0.5 * 4 / 6) / 10, discount = 7.0 / 11;
  EXPECT_NEAR(std::exp(model.log_probability(std::vector<int>{3}, 4)), (1 - discount + discount * 3 * lower) / 3,
              1e-12);
}

TEST(NgramModelTest, OnlyTheLastIdsOfAHistoryCount) {
  const NgramModel model = counted(3);
  EXPECT_EQ(model.log_probability(std::vector<int>{5, 2, 3}, 4), model.log_probability(std::vector<int>{2, 3}, 4));
}

TEST(NgramModelTest, ADocumentIsTheSumOfItsIds) {
  const NgramModel model = counted(3);
  const std::vector<int> document{kBegin, 2, 3, kEnd};
  EXPECT_NEAR(model.log_probability(document),
              model.log_probability(std::vector<int>{kBegin}, 2) +
                  model.log_probability(std::vector<int>{kBegin, 2}, 3) +
                  model.log_probability(std::vector<int>{2, 3}, kEnd),
              1e-12);
}

TEST(NgramModelTest, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(refusal([] { NgramModel(0); }), HasSubstr("order"));
  EXPECT_THAT(refusal([] { NgramModel(2).finish(4); }), HasSubstr("nothing"));
  EXPECT_THAT(refusal([] { counted(2, 4); }), HasSubstr("an id is 4, of 4"));
  NgramModel model(2);
  EXPECT_THAT(refusal([&] { model.add(std::vector<int>{0, -1}); }), HasSubstr("-1"));
  EXPECT_THAT(refusal([&] { model.log_probability({}, 1); }), HasSubstr("before finish"));
}

}  // namespace
}  // namespace heed
