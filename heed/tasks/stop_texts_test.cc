#include "heed/tasks/stop_texts.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

TEST(StopTexts, ATextEndsWhereTheFirstOfThemBegins) {
  const StopTexts stops({"END", "\n\n", "D!"});
  EXPECT_EQ(stops.find("a\n\nEND", 0), 1u);
  EXPECT_EQ(stops.before("a\n\nEND", 0, true), "a");
  EXPECT_EQ(stops.before("aEND!", 0, false), "a");
  EXPECT_EQ(stops.before("END", 0, true), "");
  EXPECT_EQ(stops.find("a\nEN D", 0), std::string::npos);
  EXPECT_EQ(stops.before("a\nEN D", 0, true), "a\nEN D");
  EXPECT_EQ(StopTexts().find("a", 0), std::string::npos);
  EXPECT_EQ(StopTexts().before("a", 0, false), "a");
}

TEST(StopTexts, WhatAPromptSaysEndsNothing) {
  const StopTexts stops({"END"});
  EXPECT_EQ(stops.find("END a", 3), std::string::npos);
  EXPECT_EQ(stops.find("END", 1), std::string::npos);
  EXPECT_EQ(stops.before("END a", 3, true), "END a");
  EXPECT_EQ(stops.before("END", 3, false), "END");
  EXPECT_EQ(stops.before("a ENEN", 4, false), "a EN");
  EXPECT_EQ(stops.find("a", 5), std::string::npos);
  EXPECT_EQ(stops.before("a", 5, false), "a");
}

TEST(StopTexts, WhatMayYetBecomeOneWaits) {
  const StopTexts stops({"abac", "cab"});
  const std::string text = "xababaccab";
  std::string_view shown;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string_view before = stops.before(std::string_view(text).substr(0, size), 0, false);
    EXPECT_TRUE(before.starts_with(shown)) << size;
    shown = before;
  }
  EXPECT_EQ(shown, "xab");
  EXPECT_EQ(stops.before("xaba", 0, false), "x");
  EXPECT_EQ(stops.before("xaba", 0, true), "xaba") << "nothing comes of it";
  EXPECT_EQ(stops.before("xabc", 0, false), "xab") << "of the other one";
}

TEST(StopTexts, EmptyOnesAndOtherBytesAreRefused) {
  EXPECT_EQ(refusal([] { StopTexts({"a", ""}); }), "stop: a text that ends a continuation must not be empty");
  EXPECT_EQ(refusal([] { StopTexts({"a\xFF"}); }), "stop: byte 2 is not valid UTF-8");
}

}  // namespace
}  // namespace heed
