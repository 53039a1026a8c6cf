#include "heed/layers/shared_angles.h"

#include <gtest/gtest.h>

#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

TEST(SharedAngles, AreOneForEqualOptionsWhileSomebodyHoldsThem) {
  const Rotary rotary{.width = 8};
  auto first = shared_angles(rotary);
  EXPECT_EQ(first, shared_angles(rotary));
  EXPECT_NE(first, shared_angles({.width = 8, .base = 500}));
  EXPECT_NE(first, shared_angles({.width = 8, .scaling = RotaryScaling::linear(2)}));
  const std::weak_ptr<SharedAngles> held = first;
  first.reset();
  EXPECT_TRUE(held.expired());
}

TEST(SharedAngles, GrowToThePositionsThatAreAskedFor) {
  const Rotary rotary{.width = 8, .scaling = RotaryScaling::yarn(4, 64)};
  SharedAngles angles(rotary);
  const auto few = angles.of_first(3);
  EXPECT_EQ(few, angles.of_first(few->cos.dim(0)));
  const Index more = few->cos.dim(0) + 1;
  const auto grown = angles.of_first(more);
  EXPECT_GE(grown->cos.dim(0), 2 * few->cos.dim(0));
  const RotaryTables whole = rotary_tables(rotary, grown->cos.dim(0), DType::f32);
  EXPECT_TRUE(testing::same_bits(grown->cos, whole.cos));
  EXPECT_TRUE(testing::same_bits(grown->sin, whole.sin));
}

}  // namespace
}  // namespace heed
