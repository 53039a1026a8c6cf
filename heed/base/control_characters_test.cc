#include "heed/base/control_characters.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(ControlCharacters, AreFoundBesideTheirNeighbours) {
  for (const char* text : {"\x01", "a\x1B[31m", "\x7F", "\xC2\x80", "x\xC2\x9F", "a\tb", "\n"}) {
    EXPECT_TRUE(has_control_character(text)) << text;
  }
  EXPECT_TRUE(has_control_character(std::string_view("\0", 1)));
  // U+0020, U+007E, U+00A0, U+00C2, U+0100 (C4 80), U+2028, a four-byte character
  for (const char* text : {"", " ~", "\xC2\xA0", "\xC3\x82\xC3\x9F", "\xC4\x80", "\xE2\x80\xA8", "\xF0\x9F\x98\x80"}) {
    EXPECT_FALSE(has_control_character(text)) << text;
  }
}

TEST(ControlCharacters, BecomeSpaces) {
  EXPECT_EQ(without_control_characters("a\x1B[2Jb\xC2\x9B"
                                       "c\xC2\xA0\xC3\xBC\n"),
            "a [2Jb c\xC2\xA0\xC3\xBC ");
  EXPECT_EQ(without_control_characters(""), "");
}

}  // namespace
}  // namespace heed
