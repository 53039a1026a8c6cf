#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/viz/canvas.h"

namespace heed {
namespace {

TEST(BrokenText, HasNoLineWiderThanItMayBe) {
  const TextStyle style{.size = 12};
  for (const std::string text :
       {"Encoder self-attention · layer 3 · mean of 8 heads", "注意力机制是深度学习中的一种方法",
        "انتباه متعدد الرؤوس في الشبكات العصبية", "Donaudampfschifffahrtsgesellschaft"}) {
    const std::vector<std::string> lines = break_text(text, style, 90, 9);
    ASSERT_GE(lines.size(), 2u) << text;
    std::string all;
    for (const std::string& line : lines) {
      EXPECT_LE(text_width(line, style), 90) << line;
      all += line;
    }
    std::string whole = text;
    for (std::string* string : {&all, &whole}) std::erase(*string, ' ');
    EXPECT_EQ(all, whole);
  }
}

TEST(BrokenText, EndsWhereItHasTheLinesThatItMayHave) {
  const std::vector<std::string> lines = break_text("one two three four five six seven", {.size = 12}, 60, 2);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[1].ends_with("…"));
  EXPECT_EQ(break_text("one", {.size = 12}, 60, 2), std::vector<std::string>{"one"});
}

}  // namespace
}  // namespace heed
