// A line of text as glyphs: joined and placed as its script wants, in the order in which it is read, from whichever
// fonts have its characters. Pango's door, for canvases; use canvas.h.
#pragma once

#include <cairo.h>
#include <pango/pango.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/viz/canvas.h"

namespace heed {

// One glyph, as it follows from the left.
struct ShapedGlyph {
  unsigned id = 0;       // in its font
  std::size_t byte = 0;  // of the text, where the characters that it stands for begin
  double x = 0;          // points from the text's left end
};

class ShapedText {
 public:
  // Any bytes (see visible_text). Nothing of the machine's language or screen has a part in it: the same fonts give the
  // same glyphs. Throws heed::Error for a size that no font can have, text longer than any picture, and where there is
  // no font at all.
  ShapedText(std::string_view text, const TextStyle& style);

  double width() const { return width_; }
  double ascent() const { return ascent_; }    // above the baseline: of the fonts, not of these letters
  double descent() const { return descent_; }  // below it
  bool right_to_left() const;                  // what its first letter with a direction says
  const char* shown() const { return pango_layout_get_text(layout_.get()); }  // visible_text; bytes below are its own
  // Where it may be cut, in bytes: before the first character and after each that a reader sees as one.
  std::vector<std::size_t> cuts() const;
  // The bytes where each line begins and ends in lines no wider than `width` points, as break_text breaks them.
  std::vector<std::pair<std::size_t, std::size_t>> lines(double width) const;
  // From left to right.
  std::vector<ShapedGlyph> glyphs() const;
  // Adds the characters that no font has: what is drawn in their place is a box.
  void add_missing(std::set<std::string>& characters) const;
  // Draws with the baseline's left end at the context's current point, in its colour. A PDF learns which characters
  // the glyphs stand for.
  void draw(cairo_t* context) const;

 private:
  struct Release {
    void operator()(PangoLayout* layout) const { g_object_unref(layout); }
  };

  std::unique_ptr<PangoLayout, Release> layout_;
  PangoLayoutLine* line_ = nullptr;  // the layout's
  double width_ = 0, ascent_ = 0, descent_ = 0;
};

// How far to the left of its anchor a text of this width begins, as a number that is not positive.
double anchor_shift(TextAnchor anchor, double width);

}  // namespace heed
