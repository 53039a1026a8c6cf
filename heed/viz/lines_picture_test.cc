#include "heed/viz/lines_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/viz/heads_sample.h"
#include "heed/viz/reading_picture.h"
#include "heed/viz/recorded_picture.h"

namespace heed {
namespace {

TEST(LinesPicture, ALineLeadsFromEachWordToThoseItReads) {
  Heatmap map = heads_sample();
  map.panels.pop_back();
  const Recording drawn(draw_lines(map));
  ASSERT_EQ(drawn.lines.size(), 3u);
  const auto middle = [&](const std::string& word, bool left) {
    for (const auto& text : drawn.texts) {
      if (text.text == word && (text.style.anchor == TextAnchor::end) == left) return text.box.y + text.box.height / 2;
    }
    return -1.0;
  };
  EXPECT_NEAR(drawn.lines[0].from.y, middle("it", true), 3);
  EXPECT_NEAR(drawn.lines[0].to.y, middle("it", false), 3);
  EXPECT_NEAR(drawn.lines[2].from.y, middle("tired", true), 3);
  EXPECT_NEAR(drawn.lines[2].to.y, middle("the", false), 3);
}

TEST(LinesPicture, StrongerLinesAreWiderDarkerAndOnTop) {
  const Recording drawn(draw_lines(heads_sample()));
  ASSERT_EQ(drawn.lines.size(), 11u);  // without a hundredth, which nobody would see
  for (std::size_t i = 1; i < drawn.lines.size(); ++i) EXPECT_GE(drawn.lines[i].width, drawn.lines[i - 1].width);
  EXPECT_EQ(drawn.lines.back().colour, hex(categorical_colour(0)));
}

TEST(LinesPicture, EachHeadHasItsColourAndItsName) {
  const Recording drawn(draw_lines(heads_sample()));
  EXPECT_TRUE(drawn.shows("head 4"));
  EXPECT_TRUE(drawn.shows("head 7"));
  ASSERT_EQ(drawn.grounds.size(), 2u);
  EXPECT_EQ(drawn.grounds[0].colour, hex(categorical_colour(0)));
  EXPECT_EQ(drawn.grounds[1].colour, hex(categorical_colour(1)));
}

TEST(LinesPicture, NothingLiesOutsideThePictureOfAnyWidth) {
  const std::vector<std::vector<std::string>> scripts = {
      {"the", "animal", "Donaudampfschifffahrt"}, {"注意", "力", "神经网络"}, {"الحيوان", "لم", "يعبر"}};
  for (const double width : {0.0, read_length("8cm"), read_length("14cm")}) {
    for (const std::size_t count : {1u, 5u, 30u, 120u}) {
      for (const auto& words : scripts) {
        Heatmap map = heads_sample();
        map.title = "A title that is longer than the narrowest of these figures is wide, of some heads";
        map.row_labels.resize(count);
        map.column_labels.resize(count);
        for (std::size_t i = 0; i < count; ++i) map.row_labels[i] = map.column_labels[i] = words[i % words.size()];
        map.panels.clear();
        for (int head = 0; head < 12; ++head) {
          map.panels.push_back({"head " + std::to_string(head), std::vector<float>(count * count, 0.5F)});
        }
        map.style.width = width;
        const Index row = 0;
        for (const Picture& picture : {draw_lines(map), draw_reading(map, {&row, 1})}) {
          const Recording drawn(picture);
          EXPECT_EQ(outside(picture, drawn), "") << count << words[0] << width;
          if (width > 0) {
            EXPECT_EQ(picture.width, width);
          }
          for (const auto& text : drawn.texts) EXPECT_GE(text.style.size, 5 - 1e-9) << text.text;
        }
      }
    }
  }
}

TEST(LinesPicture, WhatIsInfiniteOrNoNumberHasNoLineAndAGreyCell) {
  Heatmap map = heads_sample();
  map.panels.pop_back();
  map.panels[0].values = {1, std::numeric_limits<float>::infinity(), std::nanf(""), 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(Recording(draw_lines(map)).lines.size(), 1u);
  const Index row = 0;
  const Recording drawn(draw_reading(map, {&row, 1}));
  EXPECT_EQ(drawn.lines.size(), 1u);
  ASSERT_EQ(drawn.cells.size(), 3u);
  EXPECT_EQ(drawn.cells[1].colour, hex(no_number_colour()));
  EXPECT_EQ(drawn.cells[2].colour, hex(no_number_colour()));
}

TEST(LinesPicture, RefusesWhatLinesCannotShow) {
  Heatmap below = heads_sample();
  below.least = -1;
  EXPECT_THROW(draw_lines(below), Error);
  EXPECT_THROW(draw_reading(heads_sample(), {}), Error);
  EXPECT_THROW(reading_of(heads_sample(), {}), Error);
  const Index row = 3;
  EXPECT_THROW(draw_reading(heads_sample(), {&row, 1}), Error);
  Heatmap narrow = heads_sample();
  narrow.style = {.width = 80, .font_size = 30};
  EXPECT_THROW(draw_lines(narrow), Error);
}

}  // namespace
}  // namespace heed
