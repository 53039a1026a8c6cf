#include "heed/io/number_range.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed {
namespace {

TEST(NumberRange, HoldsItsBoundsAsItsTextSays) {
  EXPECT_EQ(NumberRange::from(1, 16777216).text(), "from 1 to 16777216");
  EXPECT_TRUE(NumberRange::from(1, 3).contains(1) && NumberRange::from(1, 3).contains(3));
  EXPECT_FALSE(NumberRange::from(1, 3).contains(0) || NumberRange::from(1, 3).contains(4));
  EXPECT_EQ(NumberRange::from_below(0, 1).text(), "from 0 to below 1");
  EXPECT_TRUE(NumberRange::from_below(0, 1).contains(0));
  EXPECT_FALSE(NumberRange::from_below(0, 1).contains(1));
  EXPECT_EQ(NumberRange::at_least(1).text(), "from 1 up");
  EXPECT_TRUE(NumberRange::at_least(1).contains(1) && NumberRange::at_least(1).contains(1e300));
  EXPECT_EQ(NumberRange::above(0).text(), "above 0");
  EXPECT_FALSE(NumberRange::above(0).contains(0));
  EXPECT_TRUE(NumberRange::above(0).contains(1e-300));
  EXPECT_EQ(NumberRange().text(), "");
  EXPECT_TRUE(NumberRange().contains(-1e300));
}

TEST(NumberRange, HoldsNoNanAndNoInfinity) {
  for (const NumberRange range : {NumberRange(), NumberRange::from(0, 1), NumberRange::from_below(0, 1),
                                  NumberRange::at_least(0), NumberRange::above(0)}) {
    EXPECT_FALSE(range.contains(std::nan("")));
    EXPECT_FALSE(range.contains(INFINITY));
    EXPECT_FALSE(range.contains(-INFINITY));
  }
}

}  // namespace
}  // namespace heed
