// How a figure is set: as wide as a column of the paper that it is for, in the paper's font.
//
//   FigureStyle style{.width = read_length("8cm"), .font = "Latin Modern Roman", .title = ""};
//   save_picture(draw_figure(trace, map, {.style = style}), "map.pdf");
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/viz/canvas.h"

namespace heed {

struct FigureStyle {
  double width = 0;                    // points, exactly; 0: as wide as the content likes, for a screen
  double font_size = 0;                // points, of labels; 0: 11, or 8 where there is a width
  std::string font{};                  // a family; empty: DejaVu Sans
  std::optional<std::string> title{};  // in place of the picture's own title and subtitle; empty: none

  bool for_paper() const { return width > 0; }
  double size() const { return font_size > 0 ? font_size : for_paper() ? 8 : 11; }
  // Nothing that is to be read is smaller.
  double least_size() const { return for_paper() ? (size() < 5 ? size() : 5) : 0.73 * size(); }
  // Around everything.
  double margin() const { return for_paper() ? 3 : 1.45 * size(); }
  // Of a PNG.
  double pixels_per_inch() const { return for_paper() ? 300 : 144; }
  // Text of this style, `relative` times as large as labels.
  TextStyle text(double relative, TextAnchor anchor = TextAnchor::start) const;
};

// Throws heed::Error for a width that is not 0 or in [72, 3000] points, a font size that is not 0 or in [2, 72], and a
// font that this machine does not have.
void check_style(const FigureStyle& style);

// The points of a length with its unit: "8cm", "80 mm", "3.3in" or "240pt". Throws heed::Error for anything else.
double read_length(std::string_view text);

// What is written in, and what leads the eye without being read.
inline constexpr Colour kInk{0.10, 0.10, 0.14}, kQuietInk{0.38, 0.38, 0.44}, kGridLine{0.89, 0.89, 0.92};

}  // namespace heed
