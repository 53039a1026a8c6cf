#include "heed/io/printable.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"

namespace heed {
namespace {

TEST(Printable, LeavesPlainTextAndShowsTheRestAsBytes) {
  EXPECT_EQ(printable("encoder.weight gr\xC3\xBC\xC3\x9F"), "encoder.weight gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(printable("a\nb\x1B[2J\x7F"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(printable("a\xFF\xC3(\x80"), "a\\xff\\xc3(\\x80");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 5), "abcde...");
  EXPECT_EQ(printable("abcd\xC3\xBC", 5), "abcd...");
  EXPECT_LE(printable(std::string(100000, '\n')).size(), 83u);
}

}  // namespace
}  // namespace heed
