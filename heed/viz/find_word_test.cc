#include "heed/viz/find_word.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using Places = std::vector<Index>;

TEST(FindWord, IsTheTokensOfAWord) {
  const TraceSide side{.tokens = {"<s>", "▁tired", "▁it", "▁un", "believ", "able", "▁it"},
                       .words = {-1, 0, 1, 2, 2, 2, 3}};
  EXPECT_EQ(find_word(side, "it"), Places{2});
  EXPECT_EQ(find_word(side, "it:2"), Places{6});
  EXPECT_EQ(find_word(side, "unbelievable"), (Places{3, 4, 5}));
  EXPECT_EQ(find_word(side, "<s>"), Places{0});
  EXPECT_EQ(testing::refusal([&] { find_word(side, "it:3"); }),
            "there is no word 'it:3' among: <s> tired it unbelievable it");
}

TEST(FindWord, IsWhatTheTraceCallsIt) {
  const TraceSide side{.tokens = {"play", "##ing"}, .words = {0, 0}, .word_texts = {"playing"}};
  EXPECT_EQ(find_word(side, "playing"), (Places{0, 1}));
  EXPECT_THROW(find_word(side, "play"), Error);
}

TEST(FindWord, WithoutWordsIsAToken) {
  const TraceSide side{.tokens = {"▁le", "12:30", "▁le"}};
  EXPECT_EQ(find_word(side, "le"), Places{0});
  EXPECT_EQ(find_word(side, "le:2"), Places{2});
  EXPECT_EQ(find_word(side, "12:30"), Places{1});
  for (const char* none : {"", ":", ":1", "le:0", "le:-1", "le:x", "le:99999999999999999999"}) {
    EXPECT_THROW(find_word(side, none), Error) << none;
  }
}

}  // namespace
}  // namespace heed
