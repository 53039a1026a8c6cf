#include "heed/viz/fonts.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Fonts, TheLanguageIsWhatCharactersTell) {
  EXPECT_EQ(guess_language("Wort"), "en");
  EXPECT_EQ(guess_language("注意"), "zh-Hans");
  EXPECT_EQ(guess_language("注意する"), "ja");
  EXPECT_EQ(guess_language("한국"), "ko");
  EXPECT_EQ(guess_language("العربية"), "ar");
  EXPECT_EQ(guess_language("\xFF\xFE"), "en");
}

TEST(Fonts, OnlyWhatIsInstalledIsThere) {
  EXPECT_TRUE(has_font("DejaVu Sans"));
  EXPECT_TRUE(has_font("serif"));
  EXPECT_FALSE(has_font("No Such Family 12345"));
}

TEST(Fonts, TheStylesOwnIsTriedFirst) {
  EXPECT_TRUE(
      font_families("東", {.font = "DejaVu Serif", .language = "ja"}).starts_with("DejaVu Serif, Noto Sans CJK JP"));
  EXPECT_NE(text_width("Wort", {.font = "DejaVu Serif"}), text_width("Wort", {}));
}

TEST(Fonts, AListHasItsFamiliesWithoutTheBlanksAroundThem) {
  using Families = std::vector<std::string_view>;
  EXPECT_EQ(families_of(""), Families{});
  EXPECT_EQ(families_of("DejaVu Sans"), Families{"DejaVu Sans"});
  EXPECT_EQ(families_of(" a b ,c,"), (Families{"a b", "c", ""}));
  EXPECT_EQ(families_of(" "), Families{""});
}

}  // namespace
}  // namespace heed
