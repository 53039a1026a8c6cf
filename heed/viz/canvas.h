// What pictures are drawn on: boxes, lines and text, the same for every format. y grows downwards.
//
//   void paint(Canvas& canvas) { canvas.fill({0, 0, 20, 20}, sequential_colour(0.5), "the -> das: 0.5"); }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/image/image.h"
#include "heed/viz/colour.h"

namespace heed {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

// Which part of the text lies at the point where it is drawn.
enum class TextAnchor { start, middle, end };

struct TextStyle {
  double size = 11;
  TextAnchor anchor = TextAnchor::start;
  double angle = 0;  // degrees, clockwise, about the anchor
  bool bold = false;
  Colour colour{};
  std::string font{};      // a family, or several with commas between them; empty: DejaVu Sans
  std::string language{};  // of a text that does not tell by itself: "ja" for 東京; empty: see guess_language
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  // Fills a box without soft edges, so that boxes side by side show no seam. The note is shown by viewers that can
  // (SVG).
  virtual void fill(const Box& box, const Colour& colour, std::string_view note = {}) = 0;
  // Draws the box's edge, centred on it.
  virtual void outline(const Box& box, const Colour& colour, double width) = 0;
  // Draws pixels, stretched to fill the box.
  virtual void image(const Box& box, const Image& image) = 0;
  virtual void line(Point from, Point to, const Colour& colour, double width) = 0;
  // Writes one line of text, any bytes (see visible_text), with its baseline's anchor at the point: joined, and from
  // right to left, where its script is. A character that no font has is a box (see missing_glyphs).
  virtual void text(Point at, std::string_view text, const TextStyle& style) = 0;
};

// How far the text reaches along its baseline, in the fonts that every canvas uses. Throws heed::Error for a size that
// no font can have, text wider than any picture, and where there is no font at all.
double text_width(std::string_view text, const TextStyle& style);

// The upright box around text drawn at a point, turned as the style says: from ascender to descender of the fonts,
// whatever the letters.
Box text_box(Point at, std::string_view text, const TextStyle& style);

// The longest beginning of the text, ended by "…" where something is lost, that is no wider than `width`. Cut between
// what a reader sees as characters.
std::string fit_text(std::string_view text, const TextStyle& style, double width);

// The text in lines no wider than `width`, broken where its language breaks lines, and within a word where the word
// alone is wider. At most `most` lines; the last one ends in "…" where something is lost.
std::vector<std::string> break_text(std::string_view text, const TextStyle& style, double width, std::size_t most);

}  // namespace heed
