#include "heed/viz/figure_style.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

TEST(FigureStyle, ALengthHasAUnit) {
  EXPECT_NEAR(read_length("8cm"), 226.7717, 1e-4);
  EXPECT_NEAR(read_length("80 mm"), 226.7717, 1e-4);
  EXPECT_DOUBLE_EQ(read_length("3.5in"), 252);
  EXPECT_DOUBLE_EQ(read_length("240pt"), 240);
  for (const char* text : {"", "8", "cm", "8 furlongs", "-8cm", "0cm", "nancm", "8cmx", "1e3pt", "8,5cm"}) {
    EXPECT_THROW(read_length(text), Error) << text;
  }
}

TEST(FigureStyle, EachFamilyOfItsFontIsInstalled) {
  const auto refused = [](const std::string& font) { return testing::refusal([&] { check_style({.font = font}); }); };
  for (const char* font : {"", "DejaVu Sans", "DejaVu Serif,DejaVu Sans", " DejaVu Serif , DejaVu Sans "}) {
    EXPECT_EQ(refused(font), "no error") << font;
  }
  EXPECT_EQ(refused("DejaVu Sans, No Such Family 12345"), "this machine has no font 'No Such Family 12345'");
  for (const char* font : {"DejaVu Sans,", ",DejaVu Sans", ",", " "}) {  // which no style sheet could have
    EXPECT_EQ(refused(font), "this machine has no font ''") << font;
  }
}

}  // namespace
}  // namespace heed
