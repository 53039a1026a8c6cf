#include "heed/base/replace_all.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(ReplaceAll, WhatIsWrittenIsNotReadAgain) {
  EXPECT_EQ(replace_all(std::string("a-b--c-"), "-", "<->"), "a<->b<-><->c<->");
  EXPECT_EQ(replace_all(std::string("aaa"), "aa", "a"), "aa");
  EXPECT_EQ(replace_all(std::u32string(U"a b"), U" ", U""), U"ab");
}

TEST(ReplaceAll, NothingIsNowhere) {
  EXPECT_EQ(replace_all(std::string("ab"), "", "x"), "ab");
  EXPECT_EQ(replace_all(std::string("ab"), "c", "x"), "ab");
}

}  // namespace
}  // namespace heed
