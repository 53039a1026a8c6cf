#include "heed/base/chunk_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heed {
namespace {

using Chunks = std::vector<Index>;

// What a thread gets that no other one hinders, at most `most` chunks.
Chunks taken(ChunkShares& shares, int thread, std::size_t most = 1000) {
  Chunks chunks;
  shares.take(thread, [&](Index chunk) {
    chunks.push_back(chunk);
    return chunks.size() < most;
  });
  return chunks;
}

TEST(ChunkShares, AThreadHasItsOwnRunAndThenHelpsTheOthers) {
  ChunkShares shares(8, 3);
  EXPECT_EQ(taken(shares, 1), (Chunks{3, 4, 5, 6, 7, 0, 1, 2}));
  EXPECT_EQ(taken(shares, 0), Chunks{});
}

TEST(ChunkShares, WhatOneHasHadNoOtherGets) {
  ChunkShares shares(8, 3);
  EXPECT_EQ(taken(shares, 2, 1), Chunks{6});
  EXPECT_EQ(taken(shares, 0, 4), (Chunks{0, 1, 2, 3}));
  EXPECT_EQ(taken(shares, 2), (Chunks{7, 4, 5}));
}

TEST(ChunkShares, ThereMayBeMoreThreadsThanChunksAndThanShares) {
  for (const int threads : {1, 5, 64, 65, 1024}) {
    for (const Index chunks : {1, 3, 200}) {
      ChunkShares shares(chunks, threads);
      Chunks all;
      for (int thread = 0; thread < threads; ++thread) {
        for (const Index chunk : taken(shares, thread, 1)) all.push_back(chunk);
      }
      for (const Index chunk : taken(shares, 0)) all.push_back(chunk);
      std::sort(all.begin(), all.end());
      ASSERT_EQ(all.size(), static_cast<std::size_t>(chunks)) << threads << " threads";
      for (Index chunk = 0; chunk < chunks; ++chunk) ASSERT_EQ(all[static_cast<std::size_t>(chunk)], chunk);
    }
  }
}

}  // namespace
}  // namespace heed
