#include "heed/viz/colour.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace heed {
namespace {

TEST(SequentialColour, GetsDarkerWithEveryStepOnPaperAndLighterInTheDark) {
  for (int i = 1; i <= 100; ++i) {
    EXPECT_LT(lightness(sequential_colour(i / 100.0)), lightness(sequential_colour((i - 1) / 100.0)));
    EXPECT_GT(lightness(sequential_colour(i / 100.0, Theme::dark)),
              lightness(sequential_colour((i - 1) / 100.0, Theme::dark)));
  }
  EXPECT_GT(lightness(sequential_colour(0)), 0.96);
  EXPECT_LT(lightness(sequential_colour(1)), 0.30);
}

TEST(SequentialColour, EqualStepsAreEquallyFarApart) {
  double least = 1, most = 0;
  for (int i = 1; i <= 51; ++i) {  // 51 divides the table's 255 steps
    const double step = colour_distance(sequential_colour((i - 1) / 51.0), sequential_colour(i / 51.0));
    least = std::min(least, step);
    most = std::max(most, step);
  }
  EXPECT_LT(most / least, 1.05);
}

TEST(DivergingColour, ArmsMatchInLightnessAndDifferInHue) {
  for (double t : {0.25, 0.5, 1.0}) {
    EXPECT_NEAR(lightness(diverging_colour(t)), lightness(diverging_colour(-t)), 0.02);
    EXPECT_GT(diverging_colour(t).red, diverging_colour(t).blue);
    EXPECT_LT(diverging_colour(-t).red, diverging_colour(-t).blue);
  }
  EXPECT_GT(lightness(diverging_colour(0)), 0.96);
}

TEST(Colour, OutsideTheRangeTakesTheEndsAndNanAColourOfItsOwn) {
  EXPECT_EQ(hex(sequential_colour(7)), hex(sequential_colour(1)));
  EXPECT_EQ(hex(sequential_colour(-7)), hex(sequential_colour(0)));
  EXPECT_EQ(hex(diverging_colour(-std::numeric_limits<double>::infinity())), hex(diverging_colour(-1)));
  EXPECT_EQ(hex(sequential_colour(std::nan(""))), hex(no_number_colour()));
  EXPECT_EQ(hex(diverging_colour(std::nan(""))), hex(no_number_colour()));
}

TEST(Colour, IsWrittenAsSixHexadecimalDigits) {
  EXPECT_EQ(hex({1, 0, 0.2}), "#ff0033");
  EXPECT_EQ(hex({-1, 2, 0.5}), "#00ff80");
}

TEST(Colour, LightnessIsZeroForBlackAndOneForWhite) {
  EXPECT_NEAR(lightness({0, 0, 0}), 0, 1e-6);
  EXPECT_NEAR(lightness({1, 1, 1}), 1, 1e-6);
}

TEST(Colour, InkContrastsWithItsGround) {
  for (int i = 0; i <= 20; ++i) {
    const Colour ground = sequential_colour(i / 20.0);
    EXPECT_GT(colour_distance(ground, ink_on(ground)), 0.3);
  }
}

TEST(CategoricalColour, NeighboursAreToldApartOnWhite) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < 8; ++i) {
    seen.insert(hex(categorical_colour(i)));
    EXPECT_LT(lightness(categorical_colour(i)), 0.85);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(colour_distance(categorical_colour(i), categorical_colour(j)), 0.09) << i << " " << j;
    }
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(hex(paler(categorical_colour(0), 0)), "#ffffff");
  EXPECT_EQ(hex(paler(categorical_colour(0), 1)), hex(categorical_colour(0)));
}

}  // namespace
}  // namespace heed
