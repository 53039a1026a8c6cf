#include "heed/viz/shaped_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/viz/fonts.h"
#include "heed/viz/picture.h"

namespace heed {
namespace {

// Letters that join are drawn in other forms within a word than alone: of U+0628, three of them.
TEST(ShapedText, ArabicLettersTakeTheFormsOfTheirPlaces) {
  const std::string letter = "\u0628";
  const ShapedText alone(letter, {.size = 20}), joined(letter + letter + letter, {.size = 20});
  ASSERT_EQ(alone.glyphs().size(), 1u);
  ASSERT_EQ(joined.glyphs().size(), 3u);
  std::set<unsigned> forms{alone.glyphs()[0].id};
  for (const ShapedGlyph& glyph : joined.glyphs()) forms.insert(glyph.id);
  EXPECT_EQ(forms.size(), 4u);
  EXPECT_LT(joined.width(), 3 * alone.width() - 1);
}

TEST(ShapedText, WhatIsReadFromTheRightIsDrawnFromTheRight) {
  for (const char* text : {"سلام", "שלום"}) {
    const ShapedText shaped(text, {.size = 12});
    EXPECT_TRUE(shaped.right_to_left()) << text;
    const std::vector<ShapedGlyph> glyphs = shaped.glyphs();
    ASSERT_GE(glyphs.size(), 3u);  // lam and alef may be one
    for (std::size_t i = 1; i < glyphs.size(); ++i) {
      EXPECT_GT(glyphs[i].x, glyphs[i - 1].x);
      EXPECT_LT(glyphs[i].byte, glyphs[i - 1].byte) << text;
    }
  }
  const ShapedText latin("abc", {.size = 12});
  EXPECT_FALSE(latin.right_to_left());
  EXPECT_EQ(latin.glyphs()[2].byte, 2u);
}

TEST(ShapedText, NumbersWithinAnArabicTextAreReadFromTheLeft) {
  const ShapedText shaped("في 42", {.size = 12});
  const std::vector<ShapedGlyph> glyphs = shaped.glyphs();
  ASSERT_GE(glyphs.size(), 4u);
  EXPECT_EQ(glyphs[0].byte, 5u);  // the 4 stands at the left of all, and the 2 beside it
  EXPECT_EQ(glyphs[1].byte, 6u);
}

TEST(ShapedText, ItsWidthGrowsWithItsSizeAlone) {
  for (const char* text : {"Wörter", "مرحبا بالعالم", "注意力机制", "日本語"}) {
    const double width = ShapedText(text, {.size = 10}).width();
    EXPECT_GT(width, 10) << text;
    EXPECT_NEAR(ShapedText(text, {.size = 35}).width(), 3.5 * width, 0.02 * width) << text;
  }
}

TEST(ShapedText, IsCutBetweenWhatAReaderSeesAsCharacters) {
  const ShapedText shaped("ae\u0301o", {.size = 12});  // the second e with an acute, in two code points
  EXPECT_EQ(shaped.cuts(), (std::vector<std::size_t>{0, 1, 4, 5}));
}

TEST(ShapedText, TellsWhatNoFontHas) {
  std::set<std::string> missing;
  ShapedText("plain", {}).add_missing(missing);
  ShapedText("\u200D\uFE0F", {}).add_missing(missing);  // are not to be seen
  EXPECT_TRUE(missing.empty());
  const std::string unassigned = "\U0003FFF0";
  ShapedText("a" + unassigned + "b" + unassigned, {}).add_missing(missing);
  EXPECT_EQ(missing, std::set<std::string>{unassigned});
}

TEST(ShapedText, APictureTellsWhatNoFontHas) {
  Picture picture{.width = 10, .height = 10};
  picture.paint = [](Canvas& canvas) {
    canvas.text({0, 5}, "\U0003FFF1 and \U0003FFF0, \U0003FFF1", {});
    canvas.text({0, 9}, "Wort", {.bold = true});
  };
  EXPECT_EQ(missing_glyphs(picture), (std::vector<std::string>{"\U0003FFF0", "\U0003FFF1"}));
}

// Where the fonts are that script/setup installs.
TEST(ShapedText, ChineseAndJapaneseHaveGlyphs) {
  if (!has_font("Noto Sans CJK SC")) GTEST_SKIP() << "fonts-noto-cjk is not installed: script/setup does";
  std::set<std::string> missing;
  for (const char* text : {"注意力机制", "日本語の単語", "한국어", "▁的", "العربية", "हिन्दी", "ไทย"}) {
    ShapedText(text, {.bold = true}).add_missing(missing);
  }
  EXPECT_TRUE(missing.empty()) << *missing.begin();
}

TEST(ShapedText, AChineseCharacterIsDrawnAsItsLanguageWritesIt) {
  if (!has_font("Noto Sans CJK SC")) GTEST_SKIP() << "fonts-noto-cjk is not installed: script/setup does";
  const auto glyph = [](const char* language) { return ShapedText("直", {.language = language}).glyphs()[0].id; };
  EXPECT_NE(glyph("ja"), glyph("zh-Hans"));
  EXPECT_EQ(ShapedText("直", {}).glyphs()[0].id, glyph("zh-Hans"));
}

TEST(ShapedText, StaysAsItIsWhileTextsOfOtherLanguagesAreMade) {
  const ShapedText first("a直b", {.language = "ja"});
  const auto drawn = [&first] {
    std::vector<unsigned> ids;
    for (const ShapedGlyph& glyph : first.glyphs()) ids.push_back(glyph.id);
    return ids;
  };
  const std::vector<unsigned> before = drawn();
  std::vector<ShapedText> others;
  for (const char* language : {"zh-Hans", "ko", "en"}) {
    others.emplace_back("a直b", TextStyle{.language = language});
    EXPECT_EQ(first.cuts(), (std::vector<std::size_t>{0, 1, 4, 5}));  // which asks Pango for its lines
    EXPECT_EQ(drawn(), before);
  }
}

}  // namespace
}  // namespace heed
