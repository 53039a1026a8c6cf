#include "heed/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <numeric>
#include <vector>

namespace heed {
namespace {

// Known answers of Philox4x32-10 from Random123's kat_vectors.
TEST(Philox, AgreesWithRandom123) {
  EXPECT_EQ(philox(0, 0, 0), (PhiloxBlock{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull), (PhiloxBlock{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(philox(0x299f31d0a4093822ull, 0x0370734413198a2eull, 0x85a308d3243f6a88ull),
            (PhiloxBlock{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

TEST(Rng, StateIsSeedStreamPosition) {
  Rng a(7, 3);
  for (int i = 0; i < 10; ++i) a.next();
  Rng b(a.seed(), a.stream(), a.position());
  EXPECT_EQ(a.next(), b.next());
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng rng(1);
  const int n = 200000;
  double sum = 0, normal_sum = 0, normal_square = 0;
  for (int i = 0; i < n; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    const double z = rng.normal();
    ASSERT_TRUE(std::isfinite(z));
    normal_sum += z;
    normal_square += z * z;
  }
  EXPECT_NEAR(sum / n, 0.5, 0.005);
  EXPECT_NEAR(normal_sum / n, 0.0, 0.01);
  EXPECT_NEAR(normal_square / n, 1.0, 0.02);
}

TEST(Rng, ShuffleIsAPermutation) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  Rng(5).shuffle(std::span<int>(items));
  EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
  std::sort(items.begin(), items.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(items[i], i);
}

}  // namespace
}  // namespace heed
