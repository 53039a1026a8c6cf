#include "heed/testing/covering.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <utility>

namespace heed::testing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::set<std::pair<Index, Index>> pairs_of(const std::vector<Combination>& chosen, std::size_t a, std::size_t b) {
  std::set<std::pair<Index, Index>> pairs;
  for (const Combination& at : chosen) pairs.insert({at[a], at[b]});
  return pairs;
}

TEST(Covering, MeetsEveryPairOfShortAxesWithFewCombinations) {
  const auto chosen = covering({2, 3, 2, 7, 5}, 3, [](const Combination&) { return 1.0; });
  const Index extents[] = {2, 3, 2, 7, 5};
  for (std::size_t a = 0; a < 5; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      if (a == 4 && b == 3) continue;
      EXPECT_EQ(std::ssize(pairs_of(chosen, a, b)), extents[a] * extents[b]) << a << " " << b;
    }
  EXPECT_LE(chosen.size(), 25u);  // of 420; 21 are needed
}

TEST(Covering, LeavesOutWhatIsNeverAllowedAndMeetsTheRest) {
  const auto chosen = covering({3, 3}, 3, [](const Combination& at) { return at[0] == at[1] ? kNever : 1.0; });
  EXPECT_EQ(chosen.size(), 6u);
  EXPECT_EQ(pairs_of(chosen, 0, 1).size(), 6u);
  EXPECT_TRUE(covering({3, 3}, 3, [](const Combination&) { return kNever; }).empty());
  EXPECT_TRUE(covering({3, 0}, 3, [](const Combination&) { return 1.0; }).empty());
}

TEST(Covering, PrefersTheCheaper) {
  const auto chosen =
      covering({4, 4}, 3, [](const Combination& at) { return static_cast<double>((at[0] + at[1]) % 4); });
  ASSERT_EQ(chosen.size(), 4u);
  for (const Combination& at : chosen) EXPECT_EQ((at[0] + at[1]) % 4, 0);
}

}  // namespace
}  // namespace heed::testing
