#include "heed/viz/visible_text.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

TEST(VisibleText, KeepsWhatCanBeSeen) {
  for (const char* text : {"", "Haus", "über", "▁the", "שלום", "日本", "😀", "<b>&\"'"})
    EXPECT_EQ(visible_text(text), text);
}

TEST(VisibleText, ShowsWhatWouldAct) {
  EXPECT_EQ(visible_text("a\nb\tc\x7F"), "a␊b␉c␡");
  EXPECT_EQ(visible_text(std::string_view("\0", 1)), "␀");
  EXPECT_EQ(visible_text("\u202Eabc\u2066"), "\uFFFDabc\uFFFD");  // would turn the text after it round
  EXPECT_EQ(visible_text("\u2028\u2029\uFFFE\uFFFF\u0085"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(VisibleText, AnyBytesBecomeUtf8ThatXmlAllows) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (Index i = rng.below(40); i > 0; --i) bytes += static_cast<char>(rng.below(256));
    const std::string shown = visible_text(bytes);
    EXPECT_TRUE(valid_utf8(shown));
    EXPECT_EQ(visible_text(shown), shown);
    for (char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20);
  }
  EXPECT_EQ(visible_text("a\xC3"), "a\uFFFD");  // a character cut off at the end
}

TEST(EscapeMarkup, LeavesNoMarkup) {
  EXPECT_EQ(escape_markup("</script><b a=\"1\" b='2'>&amp;"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;");
}

TEST(Shorten, CutsBetweenCharacters) {
  EXPECT_EQ(shorten("größer", 3), "grö…");
  EXPECT_EQ(shorten("größer", 6), "größer");
  EXPECT_EQ(shorten("größer", 0), "…");
  EXPECT_EQ(shorten("", 0), "");
}

TEST(CodePoints, AreTheTextInOrder) {
  std::string joined;
  for (std::string_view point : code_points("aß▁😀")) joined += std::string(point) + "|";
  EXPECT_EQ(joined, "a|ß|▁|😀|");
}

}  // namespace
}  // namespace heed
