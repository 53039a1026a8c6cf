#include "heed/text/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "heed/testing/refusal.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using ::testing::ContainsRegex;
using testing::refusal;

const std::vector<std::string> kLetterLines{"a b c d e", "", "b", "c d e a b c d", " "};

Documents documents(Index max_length) {
  return encode_documents(kLetterLines, WhitespaceVocabulary::build(kLetterLines, {.max_size = 100}), max_length);
}

TEST(DocumentsTest, EveryTokenAndEndIsPredictedOnce) {
  for (Index max_length : {1, 2, 3, 5, 100}) {
    const Documents all = documents(max_length);
    EXPECT_EQ(all.count, 3);
    EXPECT_EQ(all.dropped_empty, 2);
    EXPECT_EQ(all.tokens, 6 + 2 + 8);
    EXPECT_EQ(all.bytes, 10u + 2u + 14u);
    std::vector<int> predicted, read;
    for (const Passage& passage : all.passages) {
      EXPECT_LE(passage.length(), max_length);
      ASSERT_EQ(passage.input.size(), passage.output.size());
      predicted.insert(predicted.end(), passage.output.begin(), passage.output.end());
      read.insert(read.end(), passage.input.begin(), passage.input.end());
    }
    EXPECT_EQ(std::ssize(predicted), all.tokens);
    // What is read is begin, and then what was predicted before it; after an end comes the next document's begin.
    for (std::size_t t = 0; t < read.size(); ++t) {
      const bool first = t == 0 || predicted[t - 1] == kOwnSymbols.end;
      EXPECT_EQ(read[t], first ? kOwnSymbols.begin : predicted[t - 1]) << t;
    }
  }
}

TEST(DocumentsTest, APlanHasEveryPassageOnceWithinTheBudget) {
  const Documents all = documents(3);
  const BatchPlan plan = plan_packed_batches(all, 5, /*seed=*/1, /*epoch=*/0);
  std::multiset<Index> seen;
  for (const auto& passages : plan) {
    seen.insert(passages.begin(), passages.end());
    EXPECT_LE(pack(all, passages).tokens(), 5);
  }
  EXPECT_EQ(std::ssize(seen), all.size());
  EXPECT_EQ(std::set<Index>(seen.begin(), seen.end()).size(), seen.size());
  EXPECT_EQ(plan, plan_packed_batches(all, 5, 1, 0));
  EXPECT_NE(plan, plan_packed_batches(all, 5, 1, 1));
}

TEST(DocumentsTest, APackedBatchIsItsPassagesEndToEnd) {
  const Documents all = documents(4);
  const std::vector<Index> indices{2, 0};
  const PackedBatch batch = pack(all, indices);
  ASSERT_EQ(batch.offsets, (std::vector<std::int32_t>{0, static_cast<std::int32_t>(all.passages[2].length()),
                                                      static_cast<std::int32_t>(batch.tokens())}));
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const Passage& passage = all.passages[indices[n]];
    EXPECT_TRUE(std::equal(passage.input.begin(), passage.input.end(), batch.input.begin() + batch.offsets[n]));
    EXPECT_TRUE(std::equal(passage.output.begin(), passage.output.end(), batch.output.begin() + batch.offsets[n]));
  }
}

TEST(DocumentsTest, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(refusal([] { documents(0); }), ContainsRegex("max_length.*0"));
  const Documents all = documents(4);
  EXPECT_THAT(refusal([&] { plan_packed_batches(all, 3, 1, 0); }), ContainsRegex("passage.*4 tokens.*3"));
  EXPECT_THAT(refusal([&] { pack(all, {}); }), ContainsRegex("no passage"));
  const std::vector<Index> outside{all.size()};
  EXPECT_THAT(refusal([&] { pack(all, outside); }), ContainsRegex("not among"));
  const std::vector<std::string> blank{" ", ""};
  const WhitespaceVocabulary vocabulary = WhitespaceVocabulary::build(kLetterLines, {.max_size = 100});
  EXPECT_THAT(refusal([&] { encode_documents(blank, vocabulary, 4); }), ContainsRegex("none of the 2 lines"));
}

}  // namespace
}  // namespace heed
