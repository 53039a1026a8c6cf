#include "heed/viz/terminal_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/unicode/text_width.h"

namespace heed {
namespace {

Heatmap one_head() {
  return {.title = "Heads",
          .row_labels = {"it", "was"},
          .column_labels = {"the", "dog"},
          .panels = {{"head 0", {0, 1, 0.5F, 0.3F}}}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(TerminalPicture, DrawsRowsAndColumnsInShades) {
  EXPECT_EQ(draw_in_terminal(one_head(), {.columns = 40}),
            "Heads\n\n"
            "    the dog\n"
            " it     ████\n"
            "was ▒▒▒▒░░░░\n\n"
            "0      ░░░░░▒▒▒▒▒▓▓▓▓▓█████ 1\n");
}

TEST(TerminalPicture, DrawsInAsciiWhereThereAreNoBlocks) {
  const std::string drawn = draw_in_terminal(one_head(), {.columns = 40, .blocks = false});
  EXPECT_NE(drawn.find(" it     @@@@\nwas ++++----\n"), std::string::npos) << drawn;
  EXPECT_TRUE(std::ranges::all_of(drawn, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST(TerminalPicture, ColoursTheGroundOfCellsAndNothingElse) {
  const std::string full = draw_in_terminal(one_head(), {.columns = 40, .colours = TerminalColours::full});
  const Colour most = sequential_colour(1);
  EXPECT_NE(full.find("\x1b[48;2;" + std::to_string(std::lround(255 * most.red)) + ";"), std::string::npos);
  const std::string palette = draw_in_terminal(one_head(), {.columns = 40, .colours = TerminalColours::palette});
  EXPECT_NE(palette.find("\x1b[48;5;"), std::string::npos);
  EXPECT_EQ(palette.find("\x1b[48;2;"), std::string::npos);
  for (const std::string& text : {full, palette}) {
    std::size_t grounds = 0, ends = 0;
    for (std::size_t at = 0; (at = text.find("\x1b[48;", at)) != std::string::npos; ++at) ++grounds;
    for (std::size_t at = 0; (at = text.find("\x1b[0m", at)) != std::string::npos; ++at) ++ends;
    EXPECT_EQ(grounds, 4u + 25u);  // the cells and the scale
    EXPECT_EQ(grounds, ends);
  }
}

TEST(TerminalPicture, NoLineIsWiderThanTheTerminal) {
  const std::vector<std::vector<std::string>> scripts = {
      {"the", "animal", "Donaudampfschifffahrt"}, {"注意", "力", "神经网络"}, {"الحيوان", "لم", "يعبر"}};
  for (const Index columns : {20, 40, 80, 200}) {
    for (const std::size_t count : {1u, 5u, 30u, 120u}) {
      for (const auto& words : scripts) {
        Heatmap map = one_head();
        map.title = "A title that is longer than the narrowest of these terminals";
        map.row_labels.resize(count);
        map.column_labels.resize(count);
        for (std::size_t i = 0; i < count; ++i) map.row_labels[i] = map.column_labels[i] = words[i % words.size()];
        map.panels = {{"head 0", std::vector<float>(count * count, 0.5F)}};
        for (const std::string& line : lines_of(draw_in_terminal(map, {.columns = columns}))) {
          EXPECT_LE(text_columns(line), std::max<Index>(columns, 32)) << line;
        }
      }
    }
  }
}

// Each of the labels is as high as it has characters, and its column as wide as two.
TEST(TerminalPicture, ChineseLabelsStandOnEnd) {
  Heatmap map = one_head();
  map.column_labels = {"注意力机制的", "的"};
  map.row_labels = {"力", "x"};
  EXPECT_EQ(lines_of(draw_in_terminal(map, {.columns = 16}))[6], "   制");
  EXPECT_EQ(lines_of(draw_in_terminal(map, {.columns = 16}))[7], "   的的");
  EXPECT_EQ(lines_of(draw_in_terminal(map, {.columns = 16}))[8], "力   ██");
  EXPECT_EQ(lines_of(draw_in_terminal(map, {.columns = 16}))[9], " x ▒▒░░");
}

TEST(TerminalPicture, LabelsThatCannotStandOnEndAreListed) {
  Heatmap map = one_head();
  map.column_labels = {"الحيوان المتعب جدا", "يعبر الشارع"};
  const std::string drawn = draw_in_terminal(map, {.columns = 32});
  EXPECT_NE(drawn.find("    1 2\n"), std::string::npos) << drawn;
  EXPECT_NE(drawn.find("1 الحيوان المتعب جدا\n2 يعبر الشارع\n"), std::string::npos) << drawn;
}

TEST(TerminalPicture, WhatLabelsHoldCannotSteerTheTerminal) {
  Heatmap map = one_head();
  map.title = "\x1b[2J";
  map.row_labels[0] = "\x1b]0;title\x07";
  map.column_labels[0] = "a\nb";
  map.panels[0].title = "\x9b";
  EXPECT_EQ(draw_in_terminal(map, {.columns = 40}).find('\x1b'), std::string::npos);
  EXPECT_EQ(draw_in_terminal(map, {.columns = 40}).find('\x07'), std::string::npos);
}

TEST(TerminalPicture, AWideMapIsDrawnInBands) {
  Heatmap map = one_head();
  map.column_labels.assign(30, "word");
  map.panels = {{"head 0", std::vector<float>(60, 1)}};
  const auto lines = lines_of(draw_in_terminal(map, {.columns = 44}));  // 20 cells beside the labels
  const auto count = [&lines](const std::string& line) { return std::ranges::count(lines, line); };
  std::string twenty = " it ", ten = " it ";
  for (int i = 0; i < 40; ++i) (i < 20 ? (ten += "█", twenty += "█") : twenty += "█");
  EXPECT_EQ(count(twenty), 1);
  EXPECT_EQ(count(ten), 1);
}

}  // namespace
}  // namespace heed
