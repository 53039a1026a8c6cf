#include "heed/unicode/text_width.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

using Lines = std::vector<std::string>;

TEST(TextColumns, WideCharactersTakeTwo) {
  EXPECT_EQ(text_columns(""), 0);
  EXPECT_EQ(text_columns("query"), 5);
  EXPECT_EQ(text_columns("查询 q"), 6);
  EXPECT_EQ(text_columns("，。（）"), 8);
  EXPECT_EQ(text_columns("ひらがな한글"), 12);
  EXPECT_EQ(text_columns("Größe"), 5);
}

TEST(TextColumns, MarksAndWhatIsNotSeenTakeNone) {
  EXPECT_EQ(text_columns("e\u0301"), 1);
  EXPECT_EQ(text_columns("a\u200Bb"), 2);
}

TEST(WrapText, BreaksAtSpacesAndDropsThem) {
  EXPECT_EQ(wrap_text("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap_text("  one   two ", 20), (Lines{"one   two"}));
  EXPECT_EQ(wrap_text("one   two ", 6), (Lines{"one", "two"}));
  EXPECT_EQ(wrap_text("", 20), Lines{});
  EXPECT_EQ(wrap_text("   ", 20), Lines{});
}

TEST(WrapText, AWordThatIsTooLongStandsAlone) {
  EXPECT_EQ(wrap_text("a attention b", 4), (Lines{"a", "attention", "b"}));
}

TEST(WrapText, BreaksBetweenWideCharacters) {
  EXPECT_EQ(wrap_text("每个查询都与每个键相比", 8), (Lines{"每个查询", "都与每个", "键相比"}));
  EXPECT_EQ(wrap_text("除以 sqrt(d_k) 再求", 12), (Lines{"除以", "sqrt(d_k) 再", "求"}));
}

TEST(WrapText, PunctuationStaysWithItsText) {
  EXPECT_EQ(wrap_text("每个查询，都与", 8), (Lines{"每个查", "询，都与"}));
  EXPECT_EQ(wrap_text("每个查（询）", 8), (Lines{"每个查", "（询）"}));
}

TEST(WrapText, NoLineIsWiderThanAskedFor) {
  const std::string text =
      "缩放点积注意力（scaled dot-product attention）把每个查询与所有键的点积除以 sqrt(d_k)，再对每一行做 softmax。";
  for (Index columns = 26; columns < 60; ++columns) {
    std::string joined;
    for (const std::string& line : wrap_text(text, columns)) {
      EXPECT_LE(text_columns(line), columns) << line;
      for (char c : line) {
        if (c != ' ') joined += c;
      }
    }
    std::string bare;
    for (char c : text) {
      if (c != ' ') bare += c;
    }
    EXPECT_EQ(joined, bare);
  }
}

}  // namespace
}  // namespace heed
