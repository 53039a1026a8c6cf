#include "heed/viz/heatmap.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"

namespace heed {
namespace {

// Keeps what is drawn, to look at it as data.
struct Recording : Canvas {
  struct Text {
    std::string text;
    TextStyle style;
    Box box;
  };
  struct Cell {
    Box box;
    std::string colour, note;
  };

  explicit Recording(const Picture& picture) { picture.paint(*this); }
  void fill(const Box& box, const Colour& colour, std::string_view note) override {
    (note.empty() ? grounds : cells).push_back({box, hex(colour), std::string(note)});
  }
  void outline(const Box&, const Colour&, double) override {}
  void image(const Box&, const Image&) override {}
  void line(Point, Point, const Colour&, double) override {}
  void text(Point at, std::string_view text, const TextStyle& style) override {
    if (!text.empty()) texts.push_back({std::string(text), style, text_box(at, text, style)});
  }

  bool shows(std::string_view text) const {
    for (const Text& shown : texts) {
      if (shown.text == text) return true;
    }
    return false;
  }

  std::vector<Text> texts;
  std::vector<Cell> cells, grounds;
};

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
    const Recording drawn(picture);
    const auto expect_inside = [&](const Box& box, const std::string& what) {
      EXPECT_GE(box.x, 0) << what;
      EXPECT_GE(box.y, 0) << what;
      EXPECT_LE(box.x + box.width, picture.width) << what << " of " << c.rows << " x " << c.columns;
      EXPECT_LE(box.y + box.height, picture.height) << what << " of " << c.rows << " x " << c.columns;
    };
    for (const auto& text : drawn.texts) expect_inside(text.box, text.text);
    for (const auto& cell : drawn.cells) expect_inside(cell.box, cell.note);
    for (const auto& ground : drawn.grounds) expect_inside(ground.box, "a ground");
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
