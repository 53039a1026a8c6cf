#include "heed/unicode/normal_form.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

std::vector<std::string> graphemes(std::string_view text) {
  std::vector<std::string> all;
  for_each_grapheme(text, [&](std::string_view cluster) { all.emplace_back(cluster); });
  return all;
}

TEST(NormalForm, AccentsAreComposedAndTakenApart) {
  EXPECT_EQ(normal_form("e\u0301", NormalForm::nfc), "\u00E9");
  EXPECT_EQ(normal_form("\u00E9\uFB01", NormalForm::nfd), "e\u0301\uFB01");
  EXPECT_EQ(normal_form("\uFB01\u2460", NormalForm::nfkc), "fi1");
  EXPECT_EQ(normal_form("\uD55C\uFF21", NormalForm::nfkd), "\u1112\u1161\u11ABA");
  EXPECT_EQ(normal_form("plain", NormalForm::nfd), "plain");
  EXPECT_EQ(normal_form("", NormalForm::nfc), "");
  EXPECT_EQ(normal_form(std::string("a\0\u00E9", 4), NormalForm::nfd), std::string("a\0e\u0301", 5));
}

// A singleton decomposes and does not come back (Unicode Standard Annex 15, section 1.3).
TEST(NormalForm, SingletonsAreNotComposed) {
  EXPECT_EQ(normal_form("\u212B", NormalForm::nfc), "\u00C5");
  EXPECT_EQ(normal_form("\u0958", NormalForm::nfc), "\u0915\u093C");
}

TEST(NormalForm, GraphemesCoverTheTextInOrder) {
  EXPECT_EQ(graphemes("ae\u0301x"), (std::vector<std::string>{"a", "e\u0301", "x"}));
  EXPECT_EQ(graphemes("\r\n\n"), (std::vector<std::string>{"\r\n", "\n"}));
  EXPECT_EQ(graphemes("\U0001F1E9\U0001F1EA\U0001F1EB"),
            (std::vector<std::string>{"\U0001F1E9\U0001F1EA", "\U0001F1EB"}));
  EXPECT_TRUE(graphemes("").empty());
}

}  // namespace
}  // namespace heed
