// A picture as data, for tests that look at what is drawn where.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "heed/viz/picture.h"

namespace heed {

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

  struct Shown {
    Box box;
    Image pixels;
  };

  struct Line {
    Point from, to;
    std::string colour;
    double width;
  };

  explicit Recording(const Picture& picture) { picture.paint(*this); }
  void fill(const Box& box, const Colour& colour, std::string_view note) override {
    (note.empty() ? grounds : cells).push_back({box, hex(colour), std::string(note)});
  }
  void outline(const Box&, const Colour&, double) override {}
  void image(const Box& box, const Image& pixels) override { images.push_back({box, pixels}); }
  void line(Point from, Point to, const Colour& colour, double width) override {
    lines.push_back({from, to, hex(colour), width});
  }
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
  std::vector<Shown> images;
  std::vector<Line> lines;
};

// What lies outside the picture, by its name; empty where all is inside.
inline std::string outside(const Picture& picture, const Recording& drawn) {
  const auto is_inside = [&picture](const Box& box) {
    constexpr double kRounding = 1e-6;
    return box.x >= -kRounding && box.y >= -kRounding && box.x + box.width <= picture.width + kRounding &&
           box.y + box.height <= picture.height + kRounding;
  };
  for (const auto& text : drawn.texts) {
    if (!is_inside(text.box)) return text.text;
  }
  for (const auto& cell : drawn.cells) {
    if (!is_inside(cell.box)) return cell.note;
  }
  for (const auto& ground : drawn.grounds) {
    if (!is_inside(ground.box)) return "a ground";
  }
  for (const auto& line : drawn.lines) {
    const Box box{std::min(line.from.x, line.to.x), std::min(line.from.y, line.to.y), std::abs(line.to.x - line.from.x),
                  std::abs(line.to.y - line.from.y)};
    if (!is_inside(box)) return "a line";
  }
  return {};
}

}  // namespace heed
