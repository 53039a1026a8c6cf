#include "heed/metrics/edit_distance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/random.h"

namespace heed {
namespace {

using Words = std::vector<std::uint32_t>;

Words random_words(Rng& rng, Index length, Index vocabulary) {
  Words words(length);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(rng.below(vocabulary));
  return words;
}

Index levenshtein(const Words& a, const Words& b) {
  std::vector<std::vector<Index>> cost(a.size() + 1, std::vector<Index>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = static_cast<Index>(i + j);
      } else {
        cost[i][j] =
            std::min({cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      }
    }
  }
  return cost[a.size()][b.size()];
}

TEST(BeamEditDistance, IsLevenshteinsWithinTheBeam) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const Words a = random_words(rng, rng.below(25), 6), b = random_words(rng, 1 + rng.below(24), 6);
    EXPECT_EQ(BeamEditDistance(b, static_cast<Index>(a.size())).set_hypothesis(a), levenshtein(a, b));
  }
}

TEST(BeamEditDistance, EditsTurnTheHypothesisIntoTheReference) {
  Rng rng(2);
  for (int round = 0; round < 300; ++round) {
    // The longest are far beyond the beam, and steep.
    const Words a = random_words(rng, rng.below(round % 3 == 0 ? 4 : 120), 20),
                b = random_words(rng, 1 + rng.below(400), 20);
    BeamEditDistance table(b, static_cast<Index>(a.size()));
    const Index distance = table.set_hypothesis(a);
    EXPECT_GE(distance, levenshtein(a, b));
    std::size_t i = 0, j = 0;
    Index cost = 0;
    for (const Edit edit : table.edits()) {
      ASSERT_NE(edit, Edit::none);
      if (edit == Edit::keep || edit == Edit::substitute) {
        ASSERT_EQ(a[i] == b[j], edit == Edit::keep);
      }
      i += edit != Edit::insert;
      j += edit != Edit::remove;
      cost += edit != Edit::keep;
    }
    EXPECT_EQ(i, a.size());
    EXPECT_EQ(j, b.size());
    EXPECT_EQ(cost, distance);
  }
}

TEST(BeamEditDistance, ASharedBeginningChangesNothing) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const Words a = random_words(rng, 1 + rng.below(90), 8), b = random_words(rng, 1 + rng.below(90), 8);
    const auto length = static_cast<Index>(a.size());
    BeamEditDistance table(b, length);
    table.set_hypothesis(a);
    for (int other = 0; other < 5; ++other) {
      Words shifted = a;
      const Index first = rng.below(length);
      std::rotate(shifted.begin() + first, shifted.begin() + first + rng.below(length - first), shifted.end());
      EXPECT_EQ(table.distance(shifted, first), BeamEditDistance(b, length).set_hypothesis(shifted));
    }
  }
}

}  // namespace
}  // namespace heed
