#include "heed/viz/heatmap.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/viz/recorded_picture.h"

namespace heed {
namespace {

std::vector<std::string> labels(std::string_view stem, Index count) {
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", stem, i));
  return names;
}

Heatmap ramp(Index rows, Index columns, Index panels = 1) {
  Heatmap map{.title = "The title",
              .subtitle = "and what it is about",
              .description = "",
              .row_title = "down",
              .column_title = "across",
              .row_labels = labels("▁Zeilenwort", rows),
              .column_labels = labels("column", columns),
              .panels = {}};
  for (Index p = 0; p < panels; ++p) {
    Heatmap::Panel panel{fmt::format("head {}", p), {}};
    for (Index i = 0; i < rows * columns; ++i)
      panel.values.push_back(static_cast<float>(i) / static_cast<float>(rows * columns));
    map.panels.push_back(std::move(panel));
  }
  return map;
}

TEST(Heatmap, EveryCellHasTheColourOfItsValueAtItsPlace) {
  const Heatmap map = ramp(3, 4);
  const Recording drawn(draw_heatmap(map));
  ASSERT_EQ(drawn.cells.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(drawn.cells[i].colour, hex(sequential_colour(map.panels[0].values[i])));
    EXPECT_EQ(drawn.cells[i].note,
              fmt::format("▁Zeilenwort{} → column{}: {:.3f}", i / 4, i % 4, static_cast<double>(i) / 12));
    EXPECT_NEAR(drawn.cells[i].box.x - drawn.cells[0].box.x, static_cast<double>(i % 4) * 28, 1e-9);
    EXPECT_NEAR(drawn.cells[i].box.y - drawn.cells[0].box.y, static_cast<double>(i / 4) * 28, 1e-9);
  }
}

TEST(Heatmap, NothingIsDrawnOutsideThePicture) {
  struct Case {
    Index rows, columns, panels;
  };
  for (const Case& c : {Case{1, 1, 1},
                        {3, 4, 1},
                        {2, 60, 1},
                        {60, 2, 1},
                        {30, 30, 8},
                        {5, 5, 7},
                        {150, 140, 1},
                        {2, 900, 1},
                        {600, 3, 3}}) {
    const Picture picture = draw_heatmap(ramp(c.rows, c.columns, c.panels));
    EXPECT_EQ(outside(picture, Recording(picture)), "") << c.rows << " x " << c.columns;
  }
}

// Labels that run alongside each other, by their baselines' distance.
TEST(Heatmap, LabelsAreLargeEnoughToReadAndDoNotOverlap) {
  for (Index count : {2, 10, 25, 40, 58, 100, 250, 900}) {
    for (Index panels : {1, 4}) {
      const Recording drawn(draw_heatmap(ramp(count, count, panels)));
      const Recording::Text* before = nullptr;
      int shown = 0;
      for (const auto& text : drawn.texts) {
        EXPECT_GE(text.style.size, 8) << text.text;
        if (!text.text.starts_with("column")) continue;
        ++shown;
        if (before != nullptr && text.box.x > before->box.x) {
          const double turned = std::abs(std::sin(text.style.angle * 3.14159265 / 180));
          const double apart = turned == 0 ? text.box.x - before->box.x - before->box.width
                                           : (text.box.x - before->box.x) * turned - 0.9 * text.style.size;
          EXPECT_GE(apart, 0) << text.text << " of " << count;
        }
        before = &text;
      }
      EXPECT_GE(shown, std::min<Index>(count, 20));
    }
  }
}

TEST(Heatmap, ShowsItsTitlesAndTheEndsOfItsScale) {
  Heatmap map = ramp(3, 3, 2);
  map.most = 0.4;
  const Recording drawn(draw_heatmap(map));
  for (const char* text : {"The title", "and what it is about", "down", "across", "head 0", "head 1", "0", "0.4"}) {
    EXPECT_TRUE(drawn.shows(text)) << text;
  }
}

TEST(Heatmap, ALongLabelIsCutShortAndItsNoteIsNotEndless) {
  Heatmap map = ramp(1, 2);
  map.row_labels[0] = std::string(1'000'000, 'W');
  const Picture picture = draw_heatmap(map);
  EXPECT_LT(picture.width, 400);
  EXPECT_LT(render(picture, PictureFormat::svg).size(), 100'000u);
}

TEST(Heatmap, BelowZeroTheScaleIsSymmetricAndWhatIsNoNumberIsGrey) {
  Heatmap map = ramp(1, 4);
  map.least = -2;
  map.most = 2;
  map.panels[0].values = {-2, 0, 2, std::numeric_limits<float>::quiet_NaN()};
  const Recording drawn(draw_heatmap(map));
  EXPECT_EQ(drawn.cells[0].colour, hex(diverging_colour(-1)));
  EXPECT_EQ(drawn.cells[1].colour, hex(diverging_colour(0)));
  EXPECT_EQ(drawn.cells[2].colour, hex(diverging_colour(1)));
  EXPECT_EQ(drawn.cells[3].colour, hex(no_number_colour()));
}

TEST(Heatmap, PrintsItsNumbersWithinTheirCells) {
  Heatmap map = ramp(2, 3);
  map.digits = 2;
  map.square = false;
  map.panels[0].values = {0, -0.001F, 0.5F, -12345.678F, 1, std::numeric_limits<float>::infinity()};
  const Recording drawn(draw_heatmap(map));
  for (const char* text : {"0.00", "0.50", "-12345.68", "1.00", "∞"}) EXPECT_TRUE(drawn.shows(text)) << text;
  EXPECT_FALSE(drawn.shows("-0.00"));
  for (const auto& text : drawn.texts) {
    if (text.text == "-12345.68") {
      EXPECT_LE(text.box.width, drawn.cells[0].box.width);
    }
  }
}

// As wide as a column of a paper, in the scripts that people publish in.
TEST(Heatmap, FillsExactlyTheWidthThatAPaperGives) {
  const std::vector<std::vector<std::string>> scripts = {
      {"the", "animal", "didn't", "cross", "Donaudampfschifffahrt", "."},
      {"注意", "力", "机制", "的", "神经网络", "。"},
      {"الحيوان", "لم", "يعبر", "الشارع", "لأنه", "متعب"}};
  for (const double width : {read_length("5cm"), read_length("8cm"), read_length("17cm")}) {
    for (const Index count : {5, 30, 120}) {
      for (const auto& words : scripts) {
        Heatmap map = ramp(count, count, count == 30 ? 4 : 1);
        for (std::size_t i = 0; i < map.row_labels.size(); ++i) {
          map.row_labels[i] = map.column_labels[i] = words[i % words.size()];
        }
        map.title = "A title that is longer than the narrowest of these figures is wide, in words " + words[0];
        map.style.width = width;
        const Picture picture = draw_heatmap(map);
        const Recording drawn(picture);
        EXPECT_EQ(picture.width, width);
        EXPECT_EQ(outside(picture, drawn), "") << count << words[0] << width;
        EXPECT_LE(picture.height, 2.2 * width) << count;
        EXPECT_EQ(picture.pixels_per_inch, 300);
        for (const auto& text : drawn.texts) EXPECT_GE(text.style.size, 5 - 1e-9) << text.text;
      }
    }
  }
}

TEST(Heatmap, ItsTitleIsBrokenIntoLinesAndNothingIsLost) {
  Heatmap map = ramp(3, 3);
  map.title = "Cross-attention of the decoder's last layer, the mean of eight heads, over a sentence of news";
  map.style.width = read_length("6cm");
  std::string shown;
  for (const auto& text : Recording(draw_heatmap(map)).texts) {
    if (text.style.bold) shown += (shown.empty() ? "" : " ") + text.text;
  }
  EXPECT_EQ(shown, map.title);
}

TEST(Heatmap, AStylesTitleTakesThePlaceOfTheMapsOrOfNone) {
  Heatmap map = ramp(3, 3);
  map.style.title = "Another";
  EXPECT_TRUE(Recording(draw_heatmap(map)).shows("Another"));
  EXPECT_FALSE(Recording(draw_heatmap(map)).shows("and what it is about"));
  const double with = draw_heatmap(map).height;
  map.style.title = "";
  EXPECT_FALSE(Recording(draw_heatmap(map)).shows("The title"));
  EXPECT_LT(draw_heatmap(map).height, with);
  EXPECT_EQ(draw_heatmap(map).title, "The title");  // for those who do not see it
}

TEST(Heatmap, ItsFontIsTheStylesInItsSize) {
  Heatmap map = ramp(4, 4);
  map.style = {.font_size = 20, .font = "DejaVu Serif"};
  for (const auto& text : Recording(draw_heatmap(map)).texts) {
    EXPECT_EQ(text.style.font, "DejaVu Serif");
    EXPECT_GE(text.style.size, 14);
  }
  map.style.font = "No Such Family 12345";
  EXPECT_THROW(draw_heatmap(map), Error);
}

TEST(Heatmap, RefusesAWidthThatHasNoRoomForIt) {
  for (const double width : {1.0, -5.0, 1e6, std::nan("")}) {
    Heatmap map = ramp(3, 3);
    map.style.width = width;
    EXPECT_THROW(draw_heatmap(map), Error) << width;
  }
  Heatmap map = ramp(3, 3);
  map.style = {.width = 80, .font_size = 40};
  EXPECT_THROW(draw_heatmap(map), Error);
}

TEST(Heatmap, TheScalesEndIsRoundAndHoldsTheValue) {
  EXPECT_DOUBLE_EQ(round_scale(0.83), 1);
  EXPECT_DOUBLE_EQ(round_scale(0.11), 0.15);
  EXPECT_DOUBLE_EQ(round_scale(0.5), 0.5);
  EXPECT_DOUBLE_EQ(round_scale(3.1), 4);
  EXPECT_DOUBLE_EQ(round_scale(90), 100);
  for (double value : {0.0, -3.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(round_scale(value), 1);
  for (double value = 1e-4; value < 1e4; value *= 1.37) {
    EXPECT_GE(round_scale(value), value * (1 - 1e-5));
    EXPECT_LE(round_scale(value), value * 1.6);
  }
}

TEST(Heatmap, RefusesShapesThatDoNotAgree) {
  const auto expect_refused = [](auto change) {
    Heatmap map = ramp(3, 4);
    change(map);
    EXPECT_THROW(draw_heatmap(map), Error);
  };
  expect_refused([](Heatmap& map) { map.panels.clear(); });
  expect_refused([](Heatmap& map) { map.panels.resize(65, map.panels[0]); });
  expect_refused([](Heatmap& map) { map.panels[0].values.pop_back(); });
  expect_refused([](Heatmap& map) { map.row_labels.clear(); });
  expect_refused([](Heatmap& map) { map.column_labels.clear(); });
  expect_refused([](Heatmap& map) { map.most = map.least; });
  expect_refused([](Heatmap& map) { map.most = std::nan(""); });
  expect_refused([](Heatmap& map) {
    map.row_labels.resize(3000);
    map.column_labels.resize(3000);
    map.panels[0].values.resize(9'000'000);
  });
}

}  // namespace
}  // namespace heed
