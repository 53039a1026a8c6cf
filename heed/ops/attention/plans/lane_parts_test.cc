#include "heed/ops/attention/plans/lane_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "heed/base/random.h"

namespace heed {
namespace {

using kernels::LanePart;

constexpr Index kTileKeys = 64, kTileLanes = 64;

struct Allowed {
  Index keys, lanes;
  std::vector<std::uint32_t> words;

  Allowed(Index of_keys, Index of_lanes, const std::function<bool(Index key, Index lane)>& allows)
      : keys(of_keys), lanes(of_lanes), words(static_cast<std::size_t>(2 * of_lanes)) {
    for (Index lane = 0; lane < lanes; ++lane)
      for (Index key = 0; key < keys; ++key) {
        if (allows(key, lane)) words[static_cast<std::size_t>(key / 32 * lanes + lane)] |= 1u << (key % 32);
      }
  }
  bool operator()(Index key, Index lane) const {
    return words[static_cast<std::size_t>(key / 32 * lanes + lane)] >> (key % 32) & 1;
  }
  LaneParts parts() const { return {keys, lanes, words.data()}; }
};

bool contains(const LanePart& part, Index key, Index lane) {
  return part.first_key <= key && key < part.end_key && part.first_lane <= lane && lane < part.end_lane;
}

Index size_of_parts(const LaneParts& parts) {
  Index size = 0;
  for (const LanePart& part : parts.by_lanes()) size += part.keys() * part.lanes();
  return size;
}

// Blocks of runs of keys that differ from unit to unit of the lanes, some of them empty.
Allowed random_block(std::uint64_t seed) {
  Rng rng(seed);
  const Index keys = 1 + rng.below(kTileKeys),
              lanes = kernels::kLaneUnit * (1 + rng.below(kTileLanes / kernels::kLaneUnit));
  Index begin[4], end[4];
  for (int unit = 0; unit < 4; ++unit) begin[unit] = rng.below(keys), end[unit] = rng.below(keys + 1);
  return {keys, lanes, [&](Index key, Index lane) {
            const Index unit = lane / kernels::kLaneUnit;
            return begin[unit] <= key && key < end[unit] && rng.uniform() < 0.5;
          }};
}

TEST(LaneParts, LeaveOutNoKeyThatARowMaySee) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Allowed allowed = random_block(seed);
    const LaneParts parts = allowed.parts();
    std::vector<LanePart> by_keys;
    parts.by_keys([&](const LanePart& part) { by_keys.push_back(part); });
    for (Index key = 0; key < allowed.keys; ++key)
      for (Index lane = 0; lane < allowed.lanes; ++lane) {
        const auto count = [&](const auto& list) {
          return std::count_if(list.begin(), list.end(), [&](const auto& part) { return contains(part, key, lane); });
        };
        EXPECT_LE(count(parts.by_lanes()), 1) << seed;
        EXPECT_LE(count(by_keys), 1) << seed;
        EXPECT_GE(count(by_keys), count(parts.by_lanes())) << seed;
        EXPECT_TRUE(!allowed(key, lane) || count(parts.by_lanes()) == 1) << seed << " " << key << " " << lane;
      }
    for (const LanePart& part : parts.by_lanes()) EXPECT_EQ(part.first_key % 4, 0) << "chains begin there";
  }
}

TEST(LaneParts, ClearAllThatIsInNoPartAndNothingElse) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Allowed allowed = random_block(seed);
    const LaneParts parts = allowed.parts();
    std::vector<float> block(static_cast<std::size_t>(allowed.keys * allowed.lanes), 1.0f);
    parts.clear_rest(block.data());
    EXPECT_EQ(std::count(block.begin(), block.end(), 1.0f), size_of_parts(parts)) << seed;
    for (const LanePart& part : parts.by_lanes())
      for (Index key = part.first_key; key < part.end_key; ++key)
        EXPECT_EQ(block[static_cast<std::size_t>(key * allowed.lanes + part.first_lane)], 1.0f) << seed;
  }
}

// On the diagonal of a causal mask each unit of lanes has sixteen keys more than the one before it.
TEST(LaneParts, OfACausalMaskLeaveOutMostOfWhatIsRefused) {
  const Allowed causal(kTileKeys, kTileLanes, [](Index key, Index lane) { return key <= lane; });
  EXPECT_EQ(size_of_parts(causal.parts()), 16 * (16 + 32 + 48 + 64));
  EXPECT_FALSE(causal.parts().leaves_lanes_out());
  const Allowed later(kTileKeys, kTileLanes, [](Index key, Index lane) { return key + 40 <= lane; });
  EXPECT_TRUE(later.parts().leaves_lanes_out());
  EXPECT_TRUE(LaneParts(kTileKeys, kTileLanes).is_whole());
}

}  // namespace
}  // namespace heed
