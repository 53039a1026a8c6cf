#include "heed/tasks/pool.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace heed {
namespace {

using Vector = std::array<float, 2>;

TEST(Pool, IsWhatSentenceTransformersMakeOfTokens) {
  const float rows[] = {1, -8, 4, -2, 7, 1, 0, 5};  // of four tokens
  const auto pooled = [&](Pool pool) {
    Vector vector{};
    pool_rows(rows, 4, 2, pool, vector.data());
    return vector;
  };
  EXPECT_EQ(pooled(Pool::first), (Vector{1, -8}));
  EXPECT_EQ(pooled(Pool::last), (Vector{0, 5}));
  EXPECT_EQ(pooled(Pool::max), (Vector{7, 5}));
  EXPECT_EQ(pooled(Pool::mean), (Vector{3, -1}));
  EXPECT_EQ(pooled(Pool::mean_sqrt), (Vector{6, -2}));
  EXPECT_EQ(pooled(Pool::weighted), (Vector{3, 1.1f}));  // (1 + 2 4 + 3 7) / 10, (-8 - 2 2 + 3 + 4 5) / 10
}

TEST(Pool, OfOneTokenIsItsVector) {
  const float row[] = {0.3f, -0.7f};
  for (Pool pool : {Pool::mean, Pool::first, Pool::last, Pool::max, Pool::mean_sqrt, Pool::weighted}) {
    Vector vector{};
    pool_rows(row, 1, 2, pool, vector.data());
    EXPECT_EQ(vector, (Vector{0.3f, -0.7f}));
  }
}

}  // namespace
}  // namespace heed
