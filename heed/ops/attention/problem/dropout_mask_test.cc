#include "heed/ops/attention/problem/dropout_mask.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

TEST(AttentionDropout, KeepsTheAskedShareAndTheExpectation) {
  const DropoutMask mask({.probability = 0.3, .seed = 9, .stream = 1});
  Index kept = 0;
  const Index rows = 200, keys = 200;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < keys; ++j) kept += mask.row(i % 3, i % 5, i).keeps(j);
  EXPECT_NEAR(static_cast<double>(kept) / (rows * keys), 0.7, 0.01);
  EXPECT_NEAR(mask.scale() * 0.7, 1, 1e-4);
}

TEST(AttentionDropout, HeadsRowsAndStreamsDrawDifferently) {
  const DropoutMask mask({.probability = 0.5, .seed = 9, .stream = 1}),
      other({.probability = 0.5, .seed = 9, .stream = 2});
  const auto pattern = [](const DropoutRow& row) {
    std::vector<bool> bits;
    for (Index j = 0; j < 128; ++j) bits.push_back(row.keeps(j));
    return bits;
  };
  const auto first = pattern(mask.row(0, 0, 0));
  EXPECT_EQ(first, pattern(mask.row(0, 0, 0)));
  for (const DropoutRow& row : {mask.row(1, 0, 0), mask.row(0, 1, 0), mask.row(0, 0, 1), other.row(0, 0, 0)}) {
    EXPECT_NE(first, pattern(row));
  }
}

TEST(AttentionDropout, AnElementOfAPackedCallDrawsAsOneOfItsBatch) {
  const Dropout dropout{.probability = 0.5, .seed = 9, .stream = 1};
  EXPECT_EQ(DropoutMask(dropout).row(3, 1, 2).stream, DropoutMask(dropout, 3).row(0, 1, 2).stream);
}

}  // namespace
}  // namespace heed
