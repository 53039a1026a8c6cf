#include "heed/layers/shared_angles.h"

#include <gtest/gtest.h>

#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

TEST(SharedAngles, AreOneTableForEqualOptionsWhileSomebodyHoldsIt) {
  const Rotary rotary{.width = 8};
  auto first = shared_angles(rotary, 16);
  EXPECT_EQ(first, shared_angles(rotary, 16));
  EXPECT_NE(first, shared_angles(rotary, 17));
  EXPECT_NE(first, shared_angles({.width = 8, .base = 500}, 16));
  EXPECT_NE(first, shared_angles({.width = 8, .scaling = RotaryScaling::linear(2)}, 16));
  EXPECT_TRUE(testing::same_bits(first->cos, rotary_tables(rotary, 16, DType::f32).cos));
  const std::weak_ptr<const RotaryTables> held = first;
  first.reset();
  EXPECT_TRUE(held.expired());
}

}  // namespace
}  // namespace heed
