#include "heed/unicode/unicode.h"

#include <gtest/gtest.h>

#include "heed/base/index.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

TEST(Unicode, Utf8GoesThereAndBack) {
  const std::string text = "a\u00E9\u20AC\U0001F600";
  const std::u32string decoded = decode_utf8(text, "test");
  EXPECT_EQ(decoded, U"a\u00E9\u20AC\U0001F600");
  EXPECT_EQ(encode_utf8(decoded), text);
  EXPECT_TRUE(decode_utf8("", "test").empty());
}

TEST(Unicode, BadUtf8IsNamedWithItsByte) {
  for (const char* bad : {"ab\xC3", "ab\xFF", "ab\xC0\xAF", "ab\xED\xA0\x80", "ab\xF4\x90\x80\x80", "ab\x80"}) {
    EXPECT_EQ(testing::refusal([&] { decode_utf8(bad, "file:3"); }), "file:3: byte 2 is not valid UTF-8");
  }
}

TEST(Unicode, ClassesAreThoseOfTheGeneralCategory) {
  for (const char32_t c : std::u32string_view(U"!_-([\u00AB\u00BB\u201E\u3002\u060C")) {
    EXPECT_TRUE(is_punctuation(c)) << std::uint32_t{c};
  }
  for (const char32_t c : std::u32string_view(U"$+<^`|~\u00A9\u20AC\u2192\U0001F600")) {
    EXPECT_TRUE(is_symbol(c)) << std::uint32_t{c};
  }
  for (const char32_t c : std::u32string_view(U"07\u00B2\u00BD\u0663\u2167")) {
    EXPECT_TRUE(is_number(c)) << std::uint32_t{c};
  }
  for (const char32_t c : std::u32string_view(U"a\u00E4\u4E2D \u0301")) {
    EXPECT_FALSE(is_punctuation(c) || is_symbol(c) || is_number(c));
  }
}

TEST(Unicode, WhiteSpaceIsPythons) {
  const std::u32string_view spaces =
      U"\t\n\v\f\r\x1C\x1D\x1E\x1F "
      U"\x85\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028"
      U"\u2029\u202F\u205F\u3000";
  Index count = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (!is_space(c)) continue;
    ++count;
    EXPECT_NE(spaces.find(c), std::u32string_view::npos) << std::uint32_t{c};
  }
  EXPECT_EQ(count, static_cast<Index>(spaces.size()));
}

TEST(Unicode, WordsAreSplitAtRunsOfWhiteSpace) {
  EXPECT_EQ(split_words(U"  a\u00A0\u3000b\u200Bc "), (std::vector<std::u32string>{U"a", U"b\u200Bc"}));
  EXPECT_TRUE(split_words(U" \t").empty());
  EXPECT_EQ(strip_right(U" a \u2003"), U" a");
}

TEST(Unicode, UpperCaseIsPythonsWhereItIsOneCodePoint) {
  EXPECT_EQ(to_upper(U"größe ça ǆ ﬁ 7"), U"GRÖSSE ÇA Ǆ ﬁ 7");
  EXPECT_EQ(to_upper(U'ß'), U'ß');
}

TEST(Unicode, LowerCaseIsPythons) {
  EXPECT_EQ(to_lower(U"\u00C4\u0416A1\u00DF"), U"\u00E4\u0436a1\u00DF");
  EXPECT_EQ(to_lower(U"\u0130I"), U"i\u0307i");
  // A sigma ends a word after a letter and before none; accents and apostrophes are looked through.
  EXPECT_EQ(to_lower(U"\u039F\u03A3 \u039F\u03A3\u039F \u03A3"), U"\u03BF\u03C2 \u03BF\u03C3\u03BF \u03C3");
  EXPECT_EQ(to_lower(U"\u0391\u03A3\u0301. \u0391\u03A3'\u0391"), U"\u03B1\u03C2\u0301. \u03B1\u03C3'\u03B1");
  EXPECT_EQ(to_lower(U"\u2167\u03A3"), U"\u2177\u03C2");
}

}  // namespace
}  // namespace heed
