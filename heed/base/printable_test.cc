#include "heed/base/printable.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Printable, LeavesPlainTextAndShowsTheRestAsBytes) {
  EXPECT_EQ(printable("encoder.weight gr\xC3\xBC\xC3\x9F"), "encoder.weight gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(printable("a\nb\x1B[2J\x7F"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J\xC2\xA0"),
            "\\xc2\\x9b2J\xC2\xA0");  // the one character that is ESC [
  EXPECT_EQ(printable("a\xFF\xC3(\x80"), "a\\xff\\xc3(\\x80");
}

TEST(Printable, ShowsWhatReordersTheLine) {
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6"
                      "c\xE2\x80\xA8"),
            "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\\xe2\\x80\\xa8");
  EXPECT_EQ(printable("\xE2\x80\xA7\xE2\x80\xAF\xD7\x90"), "\xE2\x80\xA7\xE2\x80\xAF\xD7\x90");  // its neighbours
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 5), "abcde...");
  EXPECT_EQ(printable("abcd\xC3\xBC", 5), "abcd...");
  EXPECT_LE(printable(std::string(100000, '\n')).size(), 83u);
}

}  // namespace
}  // namespace heed
