#include "heed/base/utf8.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Utf8, AcceptsWhatIsWellFormedOnly) {
  EXPECT_TRUE(valid_utf8("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"));
  Index offset = -1;
  EXPECT_FALSE(valid_utf8("ab\xC3(", &offset));
  EXPECT_EQ(offset, 2);
  EXPECT_FALSE(valid_utf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(valid_utf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(valid_utf8("\xF5\x80\x80\x80"));  // past U+10FFFF
  EXPECT_FALSE(valid_utf8("\xE2\x82"));          // cut short
}

}  // namespace
}  // namespace heed
